import { expect, test } from "bun:test";
import { Effect } from "effect";
import fc from "fast-check";
import type { Address } from "../../../../core/domain/address.ts";
import { hash32ToBytes } from "../../../../core/domain/hash32.ts";
import { SyncMemory } from "../../../../core/use-cases/index/sync/ledger/sync-memory.ts";
import { Ledger } from "../../../../ports/ledger/ledger.ts";
import { escrowLives } from "../../../arbitraries/index-history.ts";
import { seededRandom } from "../../../arbitraries/seeded-random.ts";
import { expectMarked } from "./expect-marked.ts";
import { changed, type Lie, lying } from "../../../world/port-faults.ts";
import { WeatheredChain } from "../../../world/weathered-chain.ts";
import { simulate, syncWith } from "./simulated-sync.ts";

/** Where the custody config holds its count and its head. */
const [COUNT_AT, HEAD_AT] = [48, 56];

const configOf =
  (count: bigint, head: Uint8Array): Lie =>
  (account) =>
    changed(account, (data) => {
      new DataView(data.buffer).setBigUint64(COUNT_AT, count, true);
      data.set(head, HEAD_AT);
    });

const FALSE_HEAD = new Uint8Array(32).fill(0x5a);

/** What a node says of a ledger with two events, and what the fourth sync fails with. */
const TIPS: ReadonlyArray<{
  readonly name: string;
  readonly count: bigint;
  /** Null for the ledger's head at that count. */
  readonly head: Uint8Array | null;
  /** Whether the node hides the accounts that the count leaves out. */
  readonly hides: boolean;
  readonly cause: string;
}> = [
  {
    name: "a false head",
    count: 2n,
    head: FALSE_HEAD,
    hides: false,
    cause: "the events 1 to 2 do not chain to the custody program's head",
  },
  {
    name: "a lower count with a false head",
    count: 1n,
    head: FALSE_HEAD,
    hides: false,
    cause: "the events 1 to 1 do not chain to the custody program's head",
  },
  {
    name: "an earlier count with its head",
    count: 1n,
    head: null,
    hides: false,
    cause: "the index holds 2 events",
  },
  {
    name: "an earlier count with its head and its accounts",
    count: 1n,
    head: null,
    hides: true,
    cause: "the index holds 2 events",
  },
  {
    name: "an empty ledger",
    count: 0n,
    head: null,
    hides: true,
    cause: "the index holds 2 events",
  },
];

for (const { name, count, head, hides, cause } of TIPS)
  test(`a node that shows ${name} does not empty the index, however often it is asked`, async () => {
    const [lives] = fc.sample(escrowLives(2, 2), { numRuns: 1, seed: 5 });
    const ledger = new WeatheredChain(seededRandom(5));
    for (const life of lives ?? []) ledger.create(life);
    expect(ledger.custodyLog.count).toBe(2n);
    await simulate(ledger, function* (index) {
      const memory = new SyncMemory();
      yield* syncWith(memory);
      const { mark } = yield* index.reader.summary;
      const trueHead = ledger.headAt(count);
      if (trueHead === undefined) throw new Error("no head");
      const lies = new Map<Address, Lie>([
        [ledger.custodyLog.address, configOf(count, head ?? hash32ToBytes(trueHead))],
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
