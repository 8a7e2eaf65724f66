import { Effect, Layer } from "effect";
import { OutcomeLog } from "../../../ports/outcome-log.ts";
import { idempotencyTable, relayTable } from "./relay-table.ts";
import type { LedgerIdentity } from "../../sql/ledger-identity.ts";
import { claimLedger } from "../ledger-identity.ts";
import { openStore, refuseDamaged } from "../open-store.ts";
import { OUTCOME_KIND } from "./outcome-schema.ts";
import { storeCall, tryStore } from "../store-failure.ts";

/**
 * The relay's log in a SQLite file of its own, made where there is none. Unlike the index it cannot be read
 * from the ledger again, so synchronous=FULL: what is acknowledged outlives a power cut. Building the layer
 * fails when the file is damaged, of another version, or of another ledger.
 */
export const outcomeLogSqlite = (options: LedgerIdentity & { readonly path: string }) =>
  Layer.effect(
    OutcomeLog,
    Effect.gen(function* () {
      const db = yield* openStore(options.path, OUTCOME_KIND);
      const refusal = yield* tryStore(() => {
        db.run("PRAGMA synchronous = FULL");
        return claimLedger(db, options.path, options);
      });
      if (refusal !== undefined) return yield* refusal;
      const relays = relayTable(db);
      const keys = idempotencyTable(db);
      return OutcomeLog.of({
        open: storeCall("OutcomeLog.open", relays.open),
        resolve: storeCall("OutcomeLog.resolve", relays.settle),
        find: storeCall("OutcomeLog.find", relays.find),
        unresolved: storeCall("OutcomeLog.unresolved", relays.unsettled),
        claimKey: storeCall("OutcomeLog.claimKey", keys.claim),
        answerKey: storeCall("OutcomeLog.answerKey", keys.answer),
      });
    }).pipe(refuseDamaged(options.path)),
  );
