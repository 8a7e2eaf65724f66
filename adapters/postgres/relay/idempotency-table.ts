import type { KeyClaim, KeyUse } from "../../../ports/outcome-log.ts";
import { type Queries, rowsOf } from "../queries.ts";

type Row = { readonly fingerprint: string; readonly answer: string | null };

/**
 * Takes a key for a request, or says how it was used before, within a transaction: whoever inserts the
 * row or takes over a stale one has the key, on whatever replica the others ask.
 */
export const claimKey = async (sql: Queries, use: KeyUse): Promise<KeyClaim> => {
  await rowsOf(sql, "DELETE FROM idempotency_key WHERE claimed_at_ms < $1", [
    use.forgottenBeforeMs,
  ]);
  const taken = await rowsOf(
    sql,
    `INSERT INTO idempotency_key AS held (client, key, fingerprint, claimed_at_ms)
     VALUES ($1, $2, $3, $4)
     ON CONFLICT (client, key) DO UPDATE SET claimed_at_ms = excluded.claimed_at_ms
     WHERE held.answer IS NULL AND held.claimed_at_ms < $5 AND held.fingerprint = excluded.fingerprint
     RETURNING key`,
    [use.client, use.key, use.fingerprint, use.nowMs, use.staleBeforeMs],
  );
  if (taken.length > 0) return { status: "claimed" };
  const [row] = await rowsOf<Row>(
    sql,
    "SELECT fingerprint, answer FROM idempotency_key WHERE client = $1 AND key = $2",
    [use.client, use.key],
  );
  // Given free between the two statements: the caller may ask again.
  if (row === undefined) return { status: "in_flight" };
  if (row.fingerprint !== use.fingerprint) return { status: "reused" };
  return row.answer === null ? { status: "in_flight" } : { status: "answered", answer: row.answer };
};

/** Keeps the answer of a key, or with null gives the key free. */
export const answerKey = async (
  sql: Queries,
  { client, key }: Pick<KeyUse, "client" | "key">,
  answer: string | null,
): Promise<void> => {
  await (answer === null
    ? rowsOf(sql, "DELETE FROM idempotency_key WHERE client = $1 AND key = $2", [client, key])
    : rowsOf(sql, "UPDATE idempotency_key SET answer = $3 WHERE client = $1 AND key = $2", [
        client,
        key,
        answer,
      ]));
};
