import { Effect, Layer } from "effect";
import { OutcomeLog, type KeyClaim, type KeyUse } from "../../../ports/outcome-log.ts";
import type { LedgerIdentity } from "../../sql/ledger-identity.ts";
import { claimLedger } from "../ledger-identity.ts";
import { openStore, refuseDamaged } from "../open-store.ts";
import { OUTCOME_KIND } from "./outcome-schema.ts";
import { storeCall, tryStore } from "../store-failure.ts";
import type { Database } from "bun:sqlite";
import type { LedgerSignature } from "../../../core/domain/ledger/signature.ts";
import type { FinalOutcome, RelayEntry } from "../../../core/domain/relay/relay-entry.ts";
import {
  INSERT_RELAY,
  outcomeValues,
  relayEntryOf,
  type RelayRow,
  relayValues,
  SETTLE_RELAY,
} from "../../sql/relay-row.ts";

/** The relayed transactions of a log's file. */
const relayTable = (db: Database) => {
  const insert = db.query<null, [string, Uint8Array, string, bigint, bigint, number]>(INSERT_RELAY);
  const update = db.query<null, [string, bigint, string | null, string]>(SETTLE_RELAY);
  const byName = db.query<RelayRow, [string]>("SELECT * FROM relay WHERE signature = ?1");
  const open = db.query<RelayRow, [number]>(
    "SELECT * FROM relay WHERE outcome IS NULL ORDER BY opened_at_ms LIMIT ?1",
  );
  return {
    /** Whether the entry is new. */
    open: (entry: RelayEntry): boolean => insert.run(...relayValues(entry)).changes > 0,
    settle: (signature: LedgerSignature, outcome: FinalOutcome): void => {
      update.run(...outcomeValues(signature, outcome));
    },
    find: (signature: LedgerSignature): RelayEntry | null => {
      const row = byName.get(signature);
      return row === null ? null : relayEntryOf(row);
    },
    unsettled: (limit: number): ReadonlyArray<RelayEntry> => open.all(limit).map(relayEntryOf),
  };
};

type KeyRow = { readonly fingerprint: string; readonly answer: string | null };

const nameOf = ({ client, key }: Pick<KeyUse, "client" | "key">): string =>
  JSON.stringify([client, key]);

/**
 * The idempotency keys of a log's file. Only one process may have the file open. So a claim that this process did not
 * make belongs to one that has ended.
 */
const idempotencyTable = (db: Database) => {
  const held = new Set<string>();
  const forget = db.query<null, [number]>("DELETE FROM idempotency_key WHERE claimed_at_ms < ?1");
  const find = db.query<KeyRow, [string, string]>(
    "SELECT fingerprint, answer FROM idempotency_key WHERE client = ?1 AND key = ?2",
  );
  const take = db.query<null, [string, string, string, number]>(
    `INSERT INTO idempotency_key (client, key, fingerprint, claimed_at_ms) VALUES (?1, ?2, ?3, ?4)
     ON CONFLICT (client, key) DO UPDATE SET claimed_at_ms = ?4`,
  );
  const keep = db.query<null, [string, string, string]>(
    "UPDATE idempotency_key SET answer = ?3 WHERE client = ?1 AND key = ?2",
  );
  const drop = db.query<null, [string, string]>(
    "DELETE FROM idempotency_key WHERE client = ?1 AND key = ?2",
  );

  const claim = db.transaction((use: KeyUse): KeyClaim => {
    forget.run(use.forgottenBeforeMs);
    const row = find.get(use.client, use.key);
    if (row !== null) {
      if (row.fingerprint !== use.fingerprint) return { status: "reused" };
      if (row.answer !== null) return { status: "answered", answer: row.answer };
      if (held.has(nameOf(use))) return { status: "in_flight" };
    }
    take.run(use.client, use.key, use.fingerprint, use.nowMs);
    return { status: "claimed" };
  });

  return {
    claim: (use: KeyUse): KeyClaim => {
      const result = claim.immediate(use);
      if (result.status === "claimed") held.add(nameOf(use));
      return result;
    },
    answer: (use: Pick<KeyUse, "client" | "key">, answer: string | null): void => {
      const { client, key } = use;
      held.delete(nameOf(use));
      if (answer === null) drop.run(client, key);
      else keep.run(client, key, answer);
    },
  };
};

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
