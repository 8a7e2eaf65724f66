import { Effect, Layer } from "effect";
import { OutcomeLog } from "../../ports/outcome-log.ts";
import {
  findRelay,
  idempotencyKeys,
  openRelay,
  settleRelay,
  unsettledRelays,
} from "./relay/relay-table.ts";
import type { LedgerIdentity } from "../sql/ledger-identity.ts";
import { openClaimed } from "./ledger-identity.ts";

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
      const { run } = store;
      const keys = yield* idempotencyKeys(store);
      return OutcomeLog.of({
        open: Effect.fn("OutcomeLog.open")((entry) => run((sql) => openRelay(sql, entry))),
        resolve: Effect.fn("OutcomeLog.resolve")((signature, outcome) =>
          run((sql) => settleRelay(sql, signature, outcome)),
        ),
        find: Effect.fn("OutcomeLog.find")((signature) => run((sql) => findRelay(sql, signature))),
        unresolved: Effect.fn("OutcomeLog.unresolved")((limit) =>
          run((sql) => unsettledRelays(sql, limit)),
        ),
        claimKey: Effect.fn("OutcomeLog.claimKey")((use) => keys.claim(use)),
        answerKey: Effect.fn("OutcomeLog.answerKey")((use, answer) => keys.answer(use, answer)),
      });
    }),
  );
