import { Duration, Effect, Exit, Schedule } from "effect";
import type { LedgerSignature } from "../../../core/domain/ledger/signature.ts";
import type { FinalOutcome, RelayEntry } from "../../../core/domain/relay/relay-entry.ts";
import type { KeyClaim, KeyUse } from "../../../ports/outcome-log.ts";
import {
  INSERT_RELAY,
  outcomeValues,
  relayEntryOf,
  type RelayRow,
  relayValues,
  SETTLE_RELAY,
} from "../../sql/relay-row.ts";
import type { PostgresStore } from "../postgres-store.ts";
import { arraysOf, columnsOf, inputOf, namesOf, type Queries, rowsOf } from "../queries.ts";

/** Records a transaction and says whether it is new. */
export const openRelay = async (sql: Queries, entry: RelayEntry): Promise<boolean> => {
  const inserted = await rowsOf(sql, `${INSERT_RELAY} RETURNING signature`, relayValues(entry));
  return inserted.length > 0;
};

/** Records a transaction and strikes it out again, within a transaction. One that was recorded before stays. */
export const tryRelay = async (sql: Queries, entry: RelayEntry): Promise<void> => {
  if (await openRelay(sql, entry))
    await rowsOf(sql, "DELETE FROM relay WHERE signature = $1", [entry.signature]);
};

/** Records an outcome, unless there is one. */
export const settleRelay = async (
  sql: Queries,
  signature: LedgerSignature,
  outcome: FinalOutcome,
): Promise<void> => {
  await rowsOf(sql, SETTLE_RELAY, outcomeValues(signature, outcome));
};

/** The entry of a signature, null for one that is not recorded. */
export const findRelay = async (
  sql: Queries,
  signature: LedgerSignature,
): Promise<RelayEntry | null> => {
  const [row] = await rowsOf<RelayRow>(sql, "SELECT * FROM relay WHERE signature = $1", [
    signature,
  ]);
  return row === undefined ? null : relayEntryOf(row);
};

/** Entries without an outcome, oldest first. */
export const unsettledRelays = async (
  sql: Queries,
  limit: number,
): Promise<ReadonlyArray<RelayEntry>> =>
  (
    await rowsOf<RelayRow>(
      sql,
      "SELECT * FROM relay WHERE outcome IS NULL ORDER BY opened_at_ms LIMIT $1",
      [limit],
    )
  ).map(relayEntryOf);

type KeyRow = { readonly fingerprint: string; readonly answer: string | null };
type Key = Pick<KeyUse, "client" | "key">;

/** How long a claim is good for unless it is renewed: as long as a lease, see sync-lease.ts. */
const TIME_TO_LIVE_MS = 3000;
const RENEW = Schedule.spaced(Duration.seconds(1));
const HELD_UNTIL = `clock_timestamp() + ${TIME_TO_LIVE_MS} * interval '1 millisecond'`;
const KEY_COLUMNS = columnsOf({ client: "TEXT", key: "TEXT" });

/**
 * Takes a key for a request, or says how it was used before, within a transaction: whoever inserts the
 * row or takes over one whose holder has ended has the key, on whatever replica the others ask. A claim of this replica
 * that still runs (`isRunning`) is not taken over, however late it is.
 */
const claimKey = async (
  sql: Queries,
  use: KeyUse,
  holder: string,
  isRunning: boolean,
): Promise<KeyClaim> => {
  await rowsOf(sql, "DELETE FROM idempotency_key WHERE claimed_at_ms < $1", [
    use.forgottenBeforeMs,
  ]);
  const taken = await rowsOf(
    sql,
    `INSERT INTO idempotency_key AS held (client, key, fingerprint, claimed_at_ms, holder, held_until)
     VALUES ($1, $2, $3, $4, $5, ${HELD_UNTIL})
     ON CONFLICT (client, key) DO UPDATE
       SET claimed_at_ms = excluded.claimed_at_ms, holder = $5, held_until = ${HELD_UNTIL}
     WHERE held.answer IS NULL AND held.held_until <= clock_timestamp()
       AND held.fingerprint = excluded.fingerprint AND NOT (held.holder = $5 AND $6)
     RETURNING key`,
    [use.client, use.key, use.fingerprint, use.nowMs, holder, isRunning],
  );
  if (taken.length > 0) return { status: "claimed" };
  const [row] = await rowsOf<KeyRow>(
    sql,
    "SELECT fingerprint, answer FROM idempotency_key WHERE client = $1 AND key = $2",
    [use.client, use.key],
  );
  // Given free between the two statements: the caller may ask again.
  if (row === undefined) return { status: "in_flight" };
  if (row.fingerprint !== use.fingerprint) return { status: "reused" };
  return row.answer === null ? { status: "in_flight" } : { status: "answered", answer: row.answer };
};

/** Keeps the answer of a key that this holder has, or with null gives it free. Another's stays as it is. */
const answerKey = async (
  sql: Queries,
  { client, key }: Key,
  answer: string | null,
  holder: string,
): Promise<void> => {
  const own = "WHERE client = $1 AND key = $2 AND holder = $3 AND answer IS NULL";
  await (answer === null
    ? rowsOf(sql, `DELETE FROM idempotency_key ${own}`, [client, key, holder])
    : rowsOf(sql, `UPDATE idempotency_key SET answer = $4 ${own}`, [client, key, holder, answer]));
};

/**
 * The idempotency keys of a schema, as one replica claims them. A claim is valid for three seconds by the database's
 * clock and is renewed each second while its request runs. So the claims of a replica that is killed, frozen or cut off
 * are free soon, also behind a pooler, which keeps no session.
 */
export const idempotencyKeys = Effect.fnUntraced(function* ({
  run,
  transaction,
}: PostgresStore["Service"]) {
  const holder = crypto.randomUUID();
  const held = new Map<string, Key>();
  const nameOf = ({ client, key }: Key): string => JSON.stringify([client, key]);
  const renew = Effect.suspend(() => {
    const keys = [...held.values()].map(({ client, key }) => [client, key]);
    if (keys.length === 0) return Effect.void;
    return run((sql) =>
      rowsOf(
        sql,
        `UPDATE idempotency_key SET held_until = ${HELD_UNTIL}
         WHERE holder = $3 AND answer IS NULL
           AND (client, key) IN (SELECT ${namesOf(KEY_COLUMNS)} FROM ${inputOf(KEY_COLUMNS)})`,
        [...arraysOf(sql, KEY_COLUMNS, keys), holder],
      ),
    );
  });
  yield* Effect.forkScoped(Effect.repeat(Effect.ignore(renew), RENEW));
  return {
    claim: (use: KeyUse) =>
      Effect.suspend(() => {
        const name = nameOf(use);
        const isRunning = held.has(name);
        // Held before the database answers: its answer may take longer than the claim is good for.
        if (!isRunning) held.set(name, use);
        return transaction((step) => claimKey(step, use, holder, isRunning)).pipe(
          Effect.onExit((exit) =>
            Effect.sync(() => {
              const isClaimed = Exit.isSuccess(exit) && exit.value.status === "claimed";
              if (!isRunning && !isClaimed) held.delete(name);
            }),
          ),
        );
      }),
    answer: (use: Key, answer: string | null) =>
      // Held until the database has it: a claim that this replica makes meanwhile is not freed in its place.
      Effect.ensuring(
        run((sql) => answerKey(sql, use, answer, holder)),
        Effect.sync(() => held.delete(nameOf(use))),
      ),
  };
});
