import { expect, test } from "bun:test";
import { Effect, Layer } from "effect";
import { escrowIndexMemory } from "../../../../adapters/memory/escrow-index.ts";
import { ledgerSignatureFromBytes } from "../../../../core/domain/ledger/signature.ts";
import { eventsOf } from "../../../../core/domain/index/settlement-event.ts";
import { findEventTransactions } from "../../../../core/use-cases/index/sync/find-event-transactions.ts";
import { SyncMemory } from "../../../../core/use-cases/index/sync/sync-memory.ts";
import { EscrowIndex } from "../../../../ports/escrow-index.ts";
import { Instance } from "../../../../ports/instance.ts";
import { Ledger } from "../../../../ports/ledger.ts";
import { escrow } from "../../../adapters/http/support/parties.ts";
import { seededRandom } from "../../../arbitraries/seeded-random.ts";
import { TEST_DEPLOYMENT, TEST_GENESIS_HASH } from "../../../arbitraries/test-ledger.ts";
import { SimulatedLedger } from "./simulated-ledger.ts";
import { testInstance } from "../test-instance.ts";

const SIGNATURE = ledgerSignatureFromBytes(new Uint8Array(64).fill(3));

/** A batch of one escrow, with or without the transactions of its events. */
const batchOf = (name: string, isKnown: boolean) => {
  const row = escrow(name, "Fulfilled");
  const events = eventsOf(row);
  return {
    escrows: [{ row, slot: 1n }],
    merchants: [],
    events,
    references: isKnown
      ? events.map(({ kind }) => ({ escrow: row.address, kind, signature: SIGNATURE, slot: 1n }))
      : [],
    checkpoint: null,
  };
};

const services = Layer.mergeAll(
  // A ledger whose history is gone.
  Layer.succeed(Ledger, {
    ...new SimulatedLedger(seededRandom(1)).port,
    history: () => Effect.succeed({ entries: [], completeFrom: null }),
  }),
  Layer.succeed(Instance, { ...testInstance(), deployment: TEST_DEPLOYMENT }),
  escrowIndexMemory({ genesisHash: TEST_GENESIS_HASH, deployment: TEST_DEPLOYMENT }),
);

test("events with known transactions are skipped, and those added later are not", () =>
  Effect.gen(function* () {
    const index = yield* EscrowIndex;
    const memory = new SyncMemory();
    const passedOver: Array<bigint> = [];
    const search = Effect.provideService(findEventTransactions(memory), EscrowIndex, {
      ...index,
      eventsWithoutReference: (limit, after) => {
        passedOver.push(after);
        return index.eventsWithoutReference(limit, after);
      },
    });
    yield* index.apply(batchOf("one", true));
    yield* search;
    yield* search;
    yield* index.apply(batchOf("two", false));
    yield* search;
    expect(passedOver).toEqual([0n, 2n, 2n]);
    expect(memory.searchedTo).toBe(4n);
  }).pipe(Effect.provide(services), Effect.runPromise));
