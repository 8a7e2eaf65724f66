import { Effect, Layer } from "effect";
import { OutcomeLog } from "../../ports/outcome-log.ts";
import {
  findRelay,
  idempotencyKeys,
  openRelay,
  settleRelay,
  tryRelay,
  unsettledRelays,
} from "./relay/relay-table.ts";
import type { LedgerIdentity } from "../sql/ledger-identity.ts";
import { openClaimed } from "./ledger-identity.ts";
import { storeCall } from "./postgres-store.ts";

/**
 * The relay's log in a Postgres database that several replicas may share: a transaction that one has taken
 * on is known to all. Building the layer fails when the schema is of another version or of another
 * ledger. What is acknowledged outlives a power cut as far as the server's synchronous_commit says.
 */
export const outcomeLogPostgres = (identity: LedgerIdentity) =>
  Layer.effect(
    OutcomeLog,
    Effect.gen(function* () {
      const store = yield* openClaimed(identity);
      const { run, transaction } = store;
      const keys = yield* idempotencyKeys(store);
      return OutcomeLog.of({
        open: storeCall(run, "OutcomeLog.open", openRelay),
        tryOpen: storeCall(transaction, "OutcomeLog.tryOpen", tryRelay),
        resolve: storeCall(run, "OutcomeLog.resolve", settleRelay),
        find: storeCall(run, "OutcomeLog.find", findRelay),
        unresolved: storeCall(run, "OutcomeLog.unresolved", unsettledRelays),
        claimKey: Effect.fn("OutcomeLog.claimKey")(keys.claim),
        answerKey: Effect.fn("OutcomeLog.answerKey")(keys.answer),
      });
    }),
  );
