import { type Address, addressToBytes } from "../../../core/domain/address.ts";
import type { Escrow } from "../../../core/domain/escrow/escrow.ts";
import type { EscrowFilter, EscrowsAt } from "../../../ports/index/index-reader.ts";
import {
  stateNumber,
  statesOf,
  UNSEEN_COLUMNS,
  unseenOf,
  type UnseenRow,
} from "../../sql/index-rows.ts";
import { bindings, int8, type Queries, rowsOf, type Values } from "../queries.ts";
import { mergedRuns, partyConditions, shown } from "./escrow-filter.ts";
import { escrowOf, type EscrowRow } from "./escrow-row.ts";

/** A statement with what it binds. */
export type Query = { readonly text: string; readonly values: Values };

/** The statement for a page of escrows, null for a filter that nothing can meet. */
export const escrowPageQuery = (
  filter: EscrowFilter,
  limit: number,
  before: bigint | null,
): Query | null => {
  const bound = bindings();
  const { bind, values } = bound;
  const parties = partyConditions(filter, bound);
  const conditions = [...parties];
  if (before !== null) conditions.push(`created_seq < ${bind(int8(before))}`);
  if (filter.refundableAt !== undefined)
    conditions.push(`expires_at <= ${bind(filter.refundableAt)}`);
  const states = statesOf(filter);
  if (states.length === 0) return null;
  // Without a party or a state the rows are in order as they are.
  const whole =
    parties.length === 0 && filter.state === undefined && filter.refundableAt === undefined;
  const runs = (whole ? ["true"] : states.map((state) => `state = ${stateNumber(state)}`)).map(
    (state) =>
      [`SELECT created_seq, address, account FROM escrow WHERE ${state}`, ...conditions].join(
        " AND ",
      ),
  );
  const order = "created_seq DESC";
  return { text: shown(mergedRuns(runs, order, bind(limit)), order), values };
};

/** A page of escrows, newest first. */
export const escrowPage = async (
  sql: Queries,
  ...page: Parameters<typeof escrowPageQuery>
): Promise<ReadonlyArray<Escrow>> => {
  const query = escrowPageQuery(...page);
  return query === null
    ? []
    : (await rowsOf<EscrowRow>(sql, query.text, query.values)).map((row) => escrowOf(row));
};

/** A row of the table of escrows or, without an account, of that of unseen ones. */
type RowAt = EscrowRow | (UnseenRow & { readonly account: null });

const isSeen = (row: RowAt): row is EscrowRow => row.account !== null;

/**
 * The statement for the escrows at some addresses, with all their fields or unseen. One statement sees both tables at one
 * moment, so that a row which a writer moves between them is in one of the two.
 */
export const ESCROWS_AT = shown(
  `SELECT ${UNSEEN_COLUMNS}, account FROM escrow WHERE address = ANY($1::bytea[])
   UNION ALL SELECT ${UNSEEN_COLUMNS}, NULL FROM unseen_escrow WHERE address = ANY($1::bytea[])`,
  "created_seq",
);

/** The stored ones of these escrows, with all their fields or unseen. */
export const escrowsAt = async (
  sql: Queries,
  addresses: ReadonlyArray<Address>,
): Promise<EscrowsAt> => {
  const rows = await rowsOf<RowAt>(sql, ESCROWS_AT, [
    sql.array(addresses.map(addressToBytes), "BYTEA"),
  ]);
  return {
    escrows: rows.filter(isSeen).map(escrowOf),
    unseen: rows.filter((row) => !isSeen(row)).map(unseenOf),
  };
};
