import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Effect } from "effect";
import fc from "fast-check";
import { everything } from "../../contracts/index-content.ts";
import { uninterrupted } from "../sqlite/test-store.ts";
import { LEADER_KILLS, besideStore, freshSchema, indexAt, withStore } from "./test-database.ts";
import { runSeed } from "../../arbitraries/seeded-random.ts";

type Replica = {
  readonly process: Bun.Subprocess<"ignore", "pipe", "inherit">;
  /** The last term it began a sync in, 0 before its first. */
  epoch: bigint;
  /** How many syncs it began, how many of them failed, and how many of its requests were answered. */
  begun: number;
  failed: number;
  answered: number;
};

const startReplica = (url: URL): Replica => {
  const process = Bun.spawn(
    [globalThis.process.execPath, join(import.meta.dir, "replica.ts"), url.href],
    {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
    },
  );
  const replica: Replica = { process, epoch: 0n, begun: 0, failed: 0, answered: 0 };
  const read = async () => {
    let pending = "";
    for await (const chunk of process.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (pending + chunk).split("\n");
      pending = lines.pop() ?? "";
      for (const line of lines) {
        if (line === "answered") replica.answered++;
        else if (line === "failed") replica.failed++;
        else {
          replica.begun++;
          replica.epoch = BigInt(line.slice("sync ".length));
        }
      }
    }
  };
  void read();
  return replica;
};

/** Notes each batch that is committed, and the term it was committed in. */
const JOURNAL = `
  CREATE TABLE journal (line BIGSERIAL, batch NUMERIC, epoch BIGINT);
  CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO journal (batch, epoch) SELECT NEW.mark_slot, epoch FROM sync_lease;
      RETURN NEW;
    END $$;
  CREATE TRIGGER note AFTER UPDATE OF mark_slot ON ledger FOR EACH ROW EXECUTE FUNCTION note()`;

type Progress = { readonly epoch: bigint; readonly batches: bigint; readonly latest: bigint };

describe("three replicas over one database", () => {
  test(`three replicas, the one that syncs killed ${LEADER_KILLS} times, and now and then frozen: each has a successor, no batch twice, no row lost`, async () => {
    const url = freshSchema();
    await Effect.runPromise(Effect.provide(Effect.void, indexAt(url)));
    await using sql = besideStore(url);
    await sql.unsafe(JOURNAL);
    /** The term, how many batches were committed, and the term of the last of them. */
    const progress = async (): Promise<Progress> => {
      const [row] = await sql.unsafe<ReadonlyArray<Progress>>(
        `SELECT epoch, (SELECT count(*) FROM journal) AS batches,
           (SELECT coalesce(max(epoch), 0) FROM journal) AS latest FROM sync_lease`,
      );
      if (row === undefined) throw new Error("there is one lease");
      return row;
    };
    const until = async (what: string, fits: (now: Progress) => boolean): Promise<Progress> => {
      const deadline = performance.now() + 30_000;
      for (;;) {
        const now = await progress();
        if (fits(now)) return now;
        if (performance.now() > deadline) throw new Error(`not within 30 s: ${what}`);
        await Bun.sleep(10);
      }
    };

    const seed = runSeed();
    const plan = fc.sample(
      fc.record({
        batches: fc.bigInt({ min: 1n, max: 12n }),
        freeze: fc.nat({ max: 3 }),
        delayMs: fc.nat({ max: 15 }),
      }),
      // More than are needed: some are freezes, and some find nobody to kill.
      { seed, numRuns: 20 + 2 * LEADER_KILLS },
    );
    let replicas = [startReplica(url), startReplica(url), startReplica(url)];
    const successions: Array<number> = [];
    const frozen = new Set<Replica>();
    let killed = 0;
    try {
      for (const { batches, freeze, delayMs } of plan) {
        if (killed === LEADER_KILLS) break;
        const began = await progress();
        const now = await until(
          `batches in a term, seed ${seed}`,
          ({ latest, epoch, batches: done }) => latest === epoch && done >= began.batches + batches,
        );
        const leader = replicas.find(({ epoch }) => epoch === now.epoch);
        // A replica can lose its term in between; then there is nobody to kill, and the plan goes on.
        if (leader === undefined) continue;
        const { begun } = leader;
        await until(
          `a sync in the same term, seed ${seed}`,
          ({ epoch }) => leader.begun > begun || epoch !== now.epoch,
        );
        await Bun.sleep(delayMs);
        const killedAt = performance.now();
        leader.process.kill(freeze === 0 ? "SIGSTOP" : "SIGKILL");
        await until(`a successor, seed ${seed}`, ({ latest }) => latest > now.epoch);
        successions.push(performance.now() - killedAt);
        if (freeze === 0) {
          // It wakes in a term that is over, with a sync half done.
          leader.process.kill("SIGCONT");
          frozen.add(leader);
        } else {
          killed += 1;
          await leader.process.exited;
          replicas = [...replicas.filter((one) => one !== leader), startReplica(url)];
        }
      }
      const before = replicas.map(({ answered }) => answered);
      const at = await progress();
      await until("every replica is answered", () =>
        replicas.every(({ answered }, n) => answered > (before[n] ?? 0)),
      );
      expect((await progress()).batches).toBeGreaterThan(at.batches);
    } finally {
      for (const { process } of replicas) process.kill("SIGTERM");
      await Promise.all(replicas.map(({ process }) => process.exited));
    }

    const failed = [...frozen].reduce((sum, replica) => sum + replica.failed, 0);
    const slowest = Math.max(...successions);
    console.log(
      `seed ${seed}: ${killed} killed; ${successions.length} successions, slowest ${Math.round(slowest)} ms; ${frozen.size} frozen, of whose syncs ${failed} failed when they woke`,
    );
    expect(killed).toBe(LEADER_KILLS);
    const journal = await sql.unsafe<ReadonlyArray<{ batch: string; epoch: bigint }>>(
      "SELECT batch, epoch FROM journal ORDER BY line",
    );
    expect(journal.map(({ batch }) => Number(batch))).toEqual(journal.map((_, at) => at + 1));
    const epochs = journal.map(({ epoch }) => epoch);
    expect(epochs).toEqual(epochs.toSorted((a, b) => Number(a - b)));
    const found = await Effect.runPromise(withStore(url, everything));
    expect(found, `seed ${seed}`).toEqual(await uninterrupted(journal.length));
  });
});
