import { expect, test } from "bun:test";
import { Effect } from "effect";
import fc from "fast-check";
import type { Address } from "../../../../core/domain/address.ts";
import { SyncMemory } from "../../../../core/use-cases/index/sync/ledger/sync-memory.ts";
import { Ledger } from "../../../../ports/ledger/ledger.ts";
import { escrowLives } from "../../../arbitraries/index-history.ts";
import { seededRandom } from "../../../arbitraries/seeded-random.ts";
import { expectMarked } from "./expect-marked.ts";
import { changed, type Lie, lying } from "../../../world/port-faults.ts";
import { WeatheredChain } from "../../../world/weathered-chain.ts";
import { simulate, syncWith } from "./simulated-sync.ts";

/** Where the custody config holds the size of its log and its frontier. */
const [SIZE_AT, FRONTIER_AT] = [80, 88];

const configOf =
  (count: bigint, frontier: Uint8Array): Lie =>
  (account) =>
    changed(account, (data) => {
      new DataView(data.buffer).setBigUint64(SIZE_AT, count + 1n, true);
      data.set(frontier, FRONTIER_AT);
    });

const FALSE_FRONTIER = new Uint8Array(1280).fill(0x5a);

/** What a node says of a ledger with two events, and what the fourth sync fails with. */
const TIPS: ReadonlyArray<{
  readonly name: string;
  readonly count: bigint;
  /** Null for the ledger's at that count. */
  readonly frontier: Uint8Array | null;
  /** Whether the node hides the accounts that the count leaves out. */
  readonly hides: boolean;
  readonly cause: string;
}> = [
  {
    name: "a false root",
    count: 2n,
    frontier: FALSE_FRONTIER,
    hides: false,
    cause: "the events 1 to 2 do not give the root that the custody program has",
  },
  {
    name: "a lower count with a false root",
    count: 1n,
    frontier: FALSE_FRONTIER,
    hides: false,
    cause: "the events 1 to 1 do not give the root that the custody program has",
  },
  {
    name: "an earlier count with its root",
    count: 1n,
    frontier: null,
    hides: false,
    cause: "the index holds 2 events",
  },
  {
    name: "an earlier count with its root and its accounts",
    count: 1n,
    frontier: null,
    hides: true,
    cause: "the index holds 2 events",
  },
  {
    name: "an empty ledger",
    count: 0n,
    frontier: null,
    hides: true,
    cause: "the index holds 2 events",
  },
];

for (const { name, count, frontier, hides, cause } of TIPS)
  test(`a node that shows ${name} does not empty the index, however often it is asked`, async () => {
    const [lives] = fc.sample(escrowLives(2, 2), { numRuns: 1, seed: 5 });
    const ledger = new WeatheredChain(seededRandom(5));
    for (const life of lives ?? []) ledger.create(life);
    expect(ledger.custodyLog.count).toBe(2n);
    await simulate(ledger, function* (index) {
      const memory = new SyncMemory();
      yield* syncWith(memory);
      const { mark } = yield* index.reader.summary;
      const logged = ledger.loggedAt(count);
      if (logged === undefined) throw new Error("no such events");
      const lies = new Map<Address, Lie>([
        [ledger.custodyLog.address, configOf(count, frontier ?? logged.frontier)],
      ]);
      if (hides)
        for (const { address, createdSeq } of ledger.escrows.values())
          if (createdSeq > count) lies.set(address, () => null);
      const causes: Array<unknown> = [];
      for (let n = 0; n < 9; n++) {
        const failure = yield* Effect.flip(
          syncWith(memory).pipe(Effect.provideService(Ledger, lying(ledger.port, lies))),
        );
        expect(failure).toMatchObject({ _tag: "LedgerUnavailable", retryable: true });
        if ("cause" in failure) causes.push(failure.cause);
        expect((yield* index.reader.summary).mark).toEqual(mark);
        yield* expectMarked(index, ledger);
      }
      expect(causes[3]).toStartWith(cause);
      expect(yield* syncWith(memory)).toMatchObject({ mode: "incremental", count: 2n });
      yield* expectMarked(index, ledger);
    });
  });
