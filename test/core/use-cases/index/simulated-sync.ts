import { Effect, Layer } from "effect";
import { TestClock } from "effect/testing";
import { escrowIndexMemory } from "../../../../adapters/memory/escrow-index.ts";
import { EscrowIndex } from "../../../../ports/escrow-index.ts";
import { Instance } from "../../../../ports/instance.ts";
import { Ledger } from "../../../../ports/ledger.ts";
import { TEST_DEPLOYMENT, TEST_GENESIS_HASH } from "../../../arbitraries/test-ledger.ts";
import type { SimulatedLedger } from "./simulated-ledger.ts";
import { testInstance } from "../test-instance.ts";

const START_MS = 1_800_000_000_000;

const instance = { ...testInstance(), deployment: TEST_DEPLOYMENT };
const freshIndex = () =>
  escrowIndexMemory({ genesisHash: TEST_GENESIS_HASH, deployment: TEST_DEPLOYMENT });

/** Runs a program against a simulated ledger and an index in memory, in virtual time. */
export const simulate = <A, E>(
  ledger: SimulatedLedger,
  program: (index: EscrowIndex["Service"]) => Effect.Effect<A, E, Ledger | EscrowIndex | Instance>,
): Promise<A> =>
  Effect.gen(function* () {
    yield* TestClock.setTime(START_MS);
    return yield* EscrowIndex.use(program);
  }).pipe(
    Effect.provide(
      Layer.mergeAll(
        Layer.succeed(Ledger, ledger.port),
        Layer.succeed(Instance, instance),
        freshIndex(),
        TestClock.layer(),
      ),
    ),
    Effect.runPromise,
  );

/** Everything in an index that does not depend on the number and times of its syncs. */
export const contents = (index: EscrowIndex["Service"]) =>
  Effect.gen(function* () {
    const events = yield* index.eventsAfter({}, 1000, 0n);
    return {
      escrows: yield* index.escrows({}, 1000, null),
      merchants: (yield* index.merchants({}, 1000, null)).map(({ merchant }) => merchant),
      events: Object.fromEntries(
        events
          .map(({ event, signature, slot }) => [event.id, { event, signature, slot }] as const)
          .sort(([a], [b]) => (a < b ? -1 : 1)),
      ),
    };
  });
