import { BODY_AT } from "../../sql/escrow-body.ts";

/** The columns of an escrow that the tallies are made from. */
export const TALLIED = "merchant, state, delivery_seconds, account";

/** A session's deliveries have no times on the ledger, so its own counts as none. */
const SECONDS = `CASE WHEN substr(account, ${BODY_AT.sessionKey + 1}, 32) = decode(repeat('00', 32), 'hex')
  THEN delivery_seconds END AS seconds`;

/** SQL for the changes of a tally: +1 for each row of `added`, -1 for each row of `removed`. */
const countedFrom = (added: string | null, removed: string): string =>
  [
    ...(added === null ? [] : [`SELECT merchant, state, ${SECONDS}, 1 AS sign FROM ${added}`]),
    `SELECT merchant, state, ${SECONDS}, -1 AS sign FROM ${removed}`,
  ].join(" UNION ALL ");

/** Parts of a WITH that update the tallies for the rows that the statement adds and removes. */
export const tallyParts = (added: string | null, removed: string): string => `
    changed AS (${countedFrom(added, removed)}),
    by_state AS (
      INSERT INTO escrow_tally AS tally (merchant, state, escrows)
      SELECT merchant, state, sum(sign) FROM changed
      GROUP BY merchant, state HAVING sum(sign) <> 0
      ON CONFLICT (merchant, state) DO UPDATE SET escrows = tally.escrows + excluded.escrows
    ),
    by_seconds AS (
      INSERT INTO delivery_tally AS tally (merchant, seconds, deliveries)
      SELECT merchant, seconds, sum(sign) FROM changed
      WHERE seconds IS NOT NULL GROUP BY merchant, seconds HAVING sum(sign) <> 0
      ON CONFLICT (merchant, seconds) DO UPDATE SET deliveries = tally.deliveries + excluded.deliveries
    )`;

/** Statements that count all escrows of a table into empty tallies. */
export const COUNT_ALL: ReadonlyArray<string> = [
  `INSERT INTO escrow_tally (merchant, state, escrows)
   SELECT merchant, state, count(*) FROM escrow GROUP BY merchant, state`,
  `INSERT INTO delivery_tally (merchant, seconds, deliveries)
   SELECT merchant, seconds, count(*) FROM (SELECT merchant, ${SECONDS} FROM escrow) AS single
   WHERE seconds IS NOT NULL GROUP BY merchant, seconds`,
];
