import { expect, test } from "bun:test";
import { Effect, Exit } from "effect";
import { Blockspace } from "../../../../ports/ledger/blockspace.ts";
import { Broadcaster } from "../../../../ports/ledger/broadcaster.ts";
import { Ledger } from "../../../../ports/ledger/ledger.ts";
import { seededRandom } from "../../../arbitraries/seeded-random.ts";
import { escrowAt, LaggingPool, transactionOn } from "./simulated/lagging-pool.ts";
import { runSimulated } from "./simulated/virtual-run.ts";

/** Reads for each lag; `bun run test:more pools` takes 3000. A tenth as many relays and syncs. */
const READS = Number(process.env["POOL_READS"] ?? 60);
const SEED = Number(process.env["POOL_SEED"] ?? 1);
/** What is missing is asked for in one read of four. */
const MISSING = 1_000_000;

/** The life of a service behind a pool of this lag, and what went wrong in it. */
const lifeBehind = (lag: number) => {
  const random = seededRandom(SEED * 1000 + lag);
  const pool = new LaggingPool(lag, random);
  const counted = { reads: 0, relays: 0, syncs: 0, backwards: 0 };
  const shown = new Map<number, number>();
  const tally = (of: "reads" | "relays" | "syncs") => (exit: Exit.Exit<unknown, unknown>) => {
    if (Exit.isFailure(exit)) counted[of] += 1;
  };
  const stateOf = (escrow: number, state: number) => {
    if (state < (shown.get(escrow) ?? 0)) counted.backwards += 1;
    shown.set(escrow, Math.max(state, shown.get(escrow) ?? 0));
  };
  const life = Effect.gen(function* () {
    const ledger = yield* Ledger;
    const broadcaster = yield* Broadcaster;
    const blockspace = yield* Blockspace;
    let turns = 0;
    let tipSeen = 0n;

    const read = Effect.fnUntraced(function* (escrow: number) {
      const { value } = yield* ledger.readAccounts([escrowAt(escrow)], "confirmed");
      stateOf(escrow, value[0]?.data[0] ?? 0);
    });
    const relay = Effect.fnUntraced(function* (escrow: number) {
      const { slot } = yield* blockspace.latestBlockhash;
      expect(yield* broadcaster.isBlockhashValid(String(slot))).toBe(true);
      expect((yield* ledger.tip("confirmed")).slot).toBeGreaterThanOrEqual(slot);
      const { bytes, signature } = transactionOn(escrow, ++turns);
      yield* broadcaster.submit(bytes);
      let landed = yield* broadcaster.landed(signature);
      while (landed === null) {
        yield* Effect.sleep("400 millis");
        landed = yield* broadcaster.landed(signature);
      }
      stateOf(escrow, (shown.get(escrow) ?? 0) + 1);
      yield* read(escrow);
    });
    const sync = Effect.gen(function* () {
      const { slot } = yield* ledger.tip("finalized");
      if (slot < tipSeen) counted.backwards += 1;
      tipSeen = slot;
      const escrows = [...shown.keys()].slice(-100).map(escrowAt);
      const answer = yield* ledger.readAccounts(escrows, "finalized", undefined, slot);
      expect(answer.slot).toBeGreaterThanOrEqual(slot);
    });

    for (let turn = 0; turn < READS; turn++) {
      const known = [...shown.keys()];
      const some = known[Math.floor(random() * known.length)];
      const isMissing = some === undefined || random() < 0.25;
      tally("reads")(yield* Effect.exit(read(isMissing ? MISSING + turn : some)));
      if (turn % 10 === 0) {
        // Each escrow is created, and settled ten reads later.
        tally("relays")(yield* Effect.exit(relay(Math.floor(turn / 20))));
        tally("syncs")(yield* Effect.exit(sync));
      }
      yield* Effect.sleep(Math.floor(random() * 800));
    }
    return counted;
  });
  return runSimulated(pool.answer, life);
};

test.each([0, 2, 5, 10, 30])(
  "behind an address whose backends lag 0 to %d slots no answer goes back, and syncs and relays go on",
  async (lag) => {
    const { reads, relays, syncs, backwards } = await lifeBehind(lag);
    if (process.env["POOL_READS"] !== undefined)
      process.stdout.write(
        `lag ${lag}: ${reads} of ${READS} reads failed, ${relays} of ${READS / 10} relays, ${syncs} of ${READS / 10} syncs; ${backwards} went back\n`,
      );
    expect({ relays, syncs, backwards }).toEqual({ relays: 0, syncs: 0, backwards: 0 });
    expect(reads).toBeLessThanOrEqual(READS / 1000);
  },
  { timeout: READS < 100 ? 60_000 : 3_600_000 },
);
