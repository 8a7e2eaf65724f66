import { expect, test } from "bun:test";
import { Effect, Layer } from "effect";
import { indexMemory } from "../../../../adapters/memory/index-store.ts";
import {
  type LedgerSignature,
  ledgerSignatureFromBytes,
} from "../../../../core/domain/ledger/signature.ts";
import { findEventTransactions } from "../../../../core/use-cases/index/sync/events/find-event-transactions.ts";
import { SyncMemory } from "../../../../core/use-cases/index/sync/ledger/sync-memory.ts";
import { IndexReader } from "../../../../ports/index/index-reader.ts";
import { IndexWriter } from "../../../../ports/index/index-writer.ts";
import { Instance } from "../../../../ports/instance.ts";
import { Ledger } from "../../../../ports/ledger/ledger.ts";
import { escrow } from "../../../adapters/http/support/parties.ts";
import { changesOf, indexedOf, markAt } from "../../../arbitraries/index-history.ts";
import { seededRandom } from "../../../arbitraries/seeded-random.ts";
import { TEST_DEPLOYMENT } from "../../../arbitraries/test-ledger.ts";
import { WeatheredChain } from "../../../world/weathered-chain.ts";
import { testInstance } from "../test-instance.ts";
import { settlementOf } from "./escrow-instructions.ts";

const signature = ledgerSignatureFromBytes(new Uint8Array(64).fill(3));

/** The changes by which a settled escrow has the next two events, with or without their transactions. */
const changesTo = (name: string, from: bigint | null, isKnown: boolean) => {
  const createdSeq = (from ?? 0n) + 1n;
  const row = { ...escrow(name, "Fulfilled"), createdSeq, settledSeq: createdSeq + 1n };
  return changesOf({
    from,
    escrows: [indexedOf(row)],
    transactions: isKnown
      ? [createdSeq, createdSeq + 1n].map((position) => ({ position, signature, slot: 1n }))
      : [],
    mark: { ...markAt([], 0n), count: createdSeq + 1n },
  });
};

const services = Layer.mergeAll(
  // A ledger whose history is gone.
  Layer.succeed(Ledger, {
    ...new WeatheredChain(seededRandom(1)).port,
    history: () => Effect.succeed({ entries: [], keptFrom: null }),
  }),
  Layer.succeed(Instance, { ...testInstance(), deployment: TEST_DEPLOYMENT }),
  indexMemory(),
);

test("events with known transactions are skipped, and those added later are not", () =>
  Effect.gen(function* () {
    const index = yield* IndexReader;
    const { apply } = yield* IndexWriter;
    const memory = new SyncMemory();
    const passedOver: Array<bigint> = [];
    const search = (count: bigint) =>
      Effect.provideService(findEventTransactions(memory, count), IndexReader, {
        ...index,
        events: (filter, limit, range) => {
          if ("after" in range) passedOver.push(range.after);
          return index.events(filter, limit, range);
        },
      });
    yield* apply(changesTo("one", null, true));
    yield* search(2n);
    yield* search(2n);
    yield* apply(changesTo("two", 2n, false));
    yield* search(4n);
    expect(passedOver).toEqual([0n, 2n, 2n]);
    expect(memory.searchedTo).toBe(4n);
  }).pipe(Effect.provide(services), Effect.runPromise));

test("of several claims of a refund the oldest one settled the escrow, whatever order a node lists them in", () =>
  Effect.gen(function* () {
    const { apply } = yield* IndexWriter;
    const index = yield* IndexReader;
    const row = { ...escrow("one", "Refunded"), createdSeq: 1n, settledSeq: 2n };
    const changes = { from: null, escrows: [indexedOf(row)], transactions: [] };
    yield* apply(changesOf({ ...changes, mark: { ...markAt([], 0n), count: 2n } }));
    const { ix } = settlementOf(row, TEST_DEPLOYMENT);
    const claims = [9n, 5n].map((slot) => ({
      signature: ledgerSignatureFromBytes(new Uint8Array(64).fill(Number(slot))),
      slot,
      failed: false,
    }));
    const ledger = {
      ...new WeatheredChain(seededRandom(1)).port,
      history: () => Effect.succeed({ entries: claims, keptFrom: null }),
      transaction: (asked: LedgerSignature) =>
        Effect.succeed({
          signature: asked,
          slot: claims.find((claim) => claim.signature === asked)?.slot ?? 0n,
          failed: false,
          signers: new Set<never>(),
          accounts: [],
          hasCalls: true,
          instructions: [
            {
              program: ix.programAddress,
              accounts: ix.accounts.map(({ address }) => address),
              data: ix.data,
            },
          ],
        }),
    };
    yield* Effect.provideService(findEventTransactions(new SyncMemory(), 2n), Ledger, ledger);
    const [, settled] = yield* index.events({}, 2, { after: 0n });
    expect(settled?.slot).toBe(5n);
  }).pipe(Effect.provide(services), Effect.runPromise));
