import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Effect } from "effect";
import fc from "fast-check";
import { escrowIndexMemory } from "../../../adapters/memory/escrow-index.ts";
import { escrowIndexSqlite } from "../../../adapters/sqlite/escrow-index.ts";
import { addressFromBytes } from "../../../core/domain/address.ts";
import { EscrowIndex } from "../../../ports/escrow-index.ts";
import { TEST_DEPLOYMENT, TEST_GENESIS_HASH } from "../../arbitraries/test-ledger.ts";
import { ESCROWS_PER_BATCH, numberedBatch } from "./numbered-batch.ts";
import { tmpdir } from "../../temporary-root.ts";

const folder = mkdtempSync(join(tmpdir(), "store-file-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const freshPath = () => join(folder, String(++files), "index.sqlite");

const ledger = { genesisHash: TEST_GENESIS_HASH, deployment: TEST_DEPLOYMENT };
type Index = EscrowIndex["Service"];

/** Opens the store, runs a program on it and closes it. */
const withStore = <A, E>(
  path: string,
  program: (index: Index) => Effect.Effect<A, E>,
  identity = ledger,
) => Effect.provide(EscrowIndex.use(program), escrowIndexSqlite({ path, ...identity }));

const everything = (index: Index) =>
  Effect.all([
    index.escrows({}, 10_000, null),
    index.events({}, 10_000, null),
    index.merchants({}, 10_000, null),
    index.summary,
  ]);

const applyNumbered = (last: number) => (index: Index) =>
  Effect.forEach(
    Array.from({ length: last }, (_, at) => at + 1),
    (number) => index.apply(numberedBatch(number)),
    { discard: true },
  );

/** What an index holds that was never interrupted. */
const uninterrupted = (last: number) =>
  Effect.runPromise(
    Effect.provide(
      EscrowIndex.use((index) => Effect.andThen(applyNumbered(last)(index), everything(index))),
      escrowIndexMemory(ledger),
    ),
  );

describe("the SQLite file", () => {
  test("keeps everything when closed, in one file, and is opened again", async () => {
    const path = freshPath();
    await Effect.runPromise(withStore(path, applyNumbered(3)));
    expect(readdirSync(join(path, ".."))).toEqual(["index.sqlite"]);
    expect(await Effect.runPromise(withStore(path, everything))).toEqual(await uninterrupted(3));
  });

  test("can be open twice: what one writes the other reads, and chains on", async () => {
    const path = freshPath();
    const both = withStore(path, (one) =>
      withStore(path, (other) =>
        Effect.gen(function* () {
          yield* one.apply(numberedBatch(1));
          yield* other.apply(numberedBatch(2));
          yield* one.apply(numberedBatch(2));
          yield* one.apply(numberedBatch(3));
          return yield* everything(other);
        }),
      ),
    );
    expect(await Effect.runPromise(both)).toEqual(await uninterrupted(3));
  });

  test("refuses the file of a newer version and leaves it alone", async () => {
    const path = freshPath();
    await Effect.runPromise(withStore(path, applyNumbered(1)));
    const db = new Database(path);
    db.run("PRAGMA user_version = 999");
    db.close();
    const refusal = await Effect.runPromise(Effect.flip(withStore(path, everything)));
    expect(refusal).toMatchObject({ _tag: "StoreTooNew", store: path, found: 999 });
    expect(refusal.message).toContain(path);
  });

  test("refuses the file of account version 1, whose schemas had higher numbers, and names the cure", async () => {
    const path = freshPath();
    await Effect.runPromise(withStore(path, applyNumbered(1)));
    const db = new Database(path);
    db.run("PRAGMA user_version = 4");
    db.close();
    const refusal = await Effect.runPromise(Effect.flip(withStore(path, everything)));
    expect(refusal).toMatchObject({ _tag: "StoreTooNew", found: 4 });
    expect(refusal.message).toContain("account version 1");
    expect(refusal.message).toContain("another DATA_DIR");
  });

  test("refuses the file of another ledger or of other programs, and says what differs", async () => {
    const path = freshPath();
    await Effect.runPromise(withStore(path, applyNumbered(1)));
    const other = addressFromBytes(new Uint8Array(32).fill(250));
    const identities = [
      { ...ledger, genesisHash: other },
      { ...ledger, deployment: { ...TEST_DEPLOYMENT, custodyProgram: other } },
      { ...ledger, deployment: { ...TEST_DEPLOYMENT, attestorProgram: other } },
    ];
    const fields = ["genesis_hash", "custody_program", "attestor_program"] as const;
    for (const [at, identity] of identities.entries()) {
      const refusal = await Effect.runPromise(Effect.flip(withStore(path, everything, identity)));
      expect(refusal).toMatchObject({
        _tag: "StoreOfAnotherLedger",
        differences: [{ field: fields[at], configured: other }],
      });
      expect(refusal.message).toContain(path);
    }
    expect(await Effect.runPromise(withStore(path, everything))).toEqual(await uninterrupted(1));
  });

  test("refuses a file that is no database, and another program's database", async () => {
    const garbage = join(folder, "garbage.sqlite");
    writeFileSync(garbage, Buffer.alloc(8192, "no database "));
    const foreign = join(folder, "foreign.sqlite");
    const db = new Database(foreign);
    db.run("CREATE TABLE recipes (name TEXT)");
    db.close();
    for (const path of [garbage, foreign]) {
      const refusal = await Effect.runPromise(Effect.flip(withStore(path, everything)));
      expect(refusal).toMatchObject({ _tag: "StoreCorrupt", store: path });
      expect(refusal.message).toContain(path);
    }
    const after = new Database(foreign);
    expect(after.query("SELECT name FROM sqlite_schema").all()).toEqual([{ name: "recipes" }]);
    after.close();
  });

  test("a path that cannot be opened is a failure, not a crash", async () => {
    const refusal = await Effect.runPromise(Effect.flip(withStore(folder, everything)));
    expect(refusal).toMatchObject({ _tag: "StoreUnavailable", retryable: false });
  });

  test("locked by another process: writes fail as retryable, reads go on, and it recovers", async () => {
    const path = freshPath();
    const program = withStore(path, (index) =>
      Effect.gen(function* () {
        yield* index.apply(numberedBatch(1));
        const other = new Database(path);
        other.run("BEGIN IMMEDIATE");
        const failure = yield* Effect.flip(index.apply(numberedBatch(2)));
        expect(failure).toMatchObject({ _tag: "StoreUnavailable", retryable: true });
        expect(yield* index.escrows({}, 100, null)).toHaveLength(ESCROWS_PER_BATCH);
        other.run("ROLLBACK");
        other.close();
        yield* index.apply(numberedBatch(2));
        return yield* everything(index);
      }),
    );
    expect(await Effect.runPromise(program)).toEqual(await uninterrupted(2));
  });

  test("a damaged page found while serving is a lasting failure", async () => {
    const path = freshPath();
    await Effect.runPromise(withStore(path, applyNumbered(20)));
    const bytes = new Uint8Array(await Bun.file(path).arrayBuffer());
    const pageSize = new DataView(bytes.buffer).getUint16(16);
    bytes.fill(0xa5, pageSize);
    writeFileSync(path, bytes);
    const failure = await Effect.runPromise(Effect.flip(withStore(path, everything)));
    if (failure._tag === "StoreUnavailable") expect(failure.retryable).toBe(false);
    else expect(failure._tag).toBe("StoreCorrupt");
  });
});

/** Applies numbered batches in a process of its own and kills it after it has reported `acks` of them. */
const killAfter = async (path: string, acks: number, last: number): Promise<number> => {
  const child = Bun.spawn(
    [process.execPath, join(import.meta.dir, "apply-until-killed.ts"), path, String(last)],
    { stdout: "pipe", stderr: "inherit" },
  );
  let reported = 0;
  let pending = "";
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    const lines = (pending + chunk).split("\n");
    pending = lines.pop() ?? "";
    reported = Number(lines.at(-1) ?? reported);
    if (lines.length > 0 && --acks <= 0) child.kill("SIGKILL");
  }
  await child.exited;
  return reported;
};

test("killed at any moment, it holds whole batches, and the next run ends where no kill would", async () => {
  const path = freshPath();
  const last = 60;
  const seed = Date.now() % 1_000_000;
  const acks = fc.sample(fc.integer({ min: 1, max: 10 }), { seed, numRuns: 2 });
  for (const [round, ack] of acks.entries()) {
    const reported = await killAfter(path, ack, last);
    const rows = await Effect.runPromise(withStore(path, everything));
    const slot = Number(rows[3].checkpoint?.slot);
    expect(slot, `seed ${seed}, round ${round}`).toBeGreaterThanOrEqual(reported);
    expect(rows, `seed ${seed}, round ${round}`).toEqual(await uninterrupted(slot));
  }
  await Effect.runPromise(withStore(path, applyNumbered(last)));
  expect(await Effect.runPromise(withStore(path, everything))).toEqual(await uninterrupted(last));
  const db = new Database(path);
  expect(db.query("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  db.close();
});
