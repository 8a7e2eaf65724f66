import type { Database } from "bun:sqlite";
import { type LeafRow, leavesUpToGap } from "../../sql/index-rows.ts";
import { BODY_AT } from "../../sql/escrow-body.ts";
import { inBody } from "../index/escrow-row.ts";

/** What stands between SELECT and the bounds: of creations and of each state's settlements, in the order of `seq`. */
const SOURCES: ReadonlyArray<{ readonly seq: string; readonly select: string }> = [
  {
    seq: "created_seq",
    select: `created_seq AS seq, 0 AS state, ${inBody(BODY_AT.address)} AS address,
      ${inBody(BODY_AT.pendingHash)} AS hash FROM escrow WHERE`,
  },
  ...[1, 2, 3].map((state) => ({
    seq: "settled_seq",
    select: `settled_seq, state, ${inBody(BODY_AT.address)}, ${inBody(BODY_AT.settledHash)}
      FROM escrow INDEXED BY settled_by_state WHERE state = ${state} AND`,
  })),
  {
    seq: "created_seq",
    select: "created_seq, 0, address, pending_hash FROM unseen_escrow WHERE",
  },
  {
    seq: "settled_seq",
    select:
      "settled_seq, state, address, settled_hash FROM unseen_escrow INDEXED BY unseen_settled WHERE",
  },
];

/** Reads the leaves of an index's rows: `from` on, at most `limit`, ascending, as far as there is no gap. */
export const logLeaves = (db: Database) => {
  const selects = SOURCES.map(({ seq, select }) => `SELECT ${select} ${seq} >= ?1 AND ${seq} < ?2`);
  const between = db.query<LeafRow, [bigint, bigint]>(
    `${selects.join(" UNION ALL ")} ORDER BY seq`,
  );
  return (from: bigint, limit: number): ReadonlyArray<Uint8Array> =>
    leavesUpToGap(between.all(from, from + BigInt(limit)), from);
};
