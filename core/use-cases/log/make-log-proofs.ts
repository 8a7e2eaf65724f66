import { Effect } from "effect";
import type { LogStore } from "../../../ports/log-store.ts";
import { LogProofs } from "./log-proofs.ts";
import type { SettlementLog } from "./published-log.ts";
import { proveEscrow } from "./read-log.ts";

/** The proofs of the log that this service publishes. None while the store is away, and without a log. */
export const makeLogProofs = Effect.gen(function* () {
  const services = yield* Effect.context<SettlementLog | LogStore>();
  return LogProofs.of({
    ofEscrow: (escrow) =>
      proveEscrow(escrow).pipe(
        Effect.provide(services),
        Effect.orElseSucceed(() => null),
      ),
  });
});
