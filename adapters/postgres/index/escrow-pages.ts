import { type Address, addressFromBytes, addressToBytes } from "../../../core/domain/address.ts";
import type { Escrow } from "../../../core/domain/escrow/escrow.ts";
import { type Hash32, hash32ToBytes } from "../../../core/domain/hash32.ts";
import { fieldsOf } from "../../../core/protocol/accounts/byte-fields.ts";
import { escrowIn } from "../../../core/protocol/accounts/escrow-account.ts";
import type { EscrowFilter, EscrowsAt } from "../../../ports/index/index-reader.ts";
import { BODY_AT, digestsIn, isSettledBody } from "../../sql/escrow-body.ts";
import {
  stateNumber,
  stateOf,
  statesOf,
  UNSEEN_COLUMNS,
  unseenOf,
  type UnseenRow,
} from "../../sql/index-rows.ts";
import { hashKey } from "./index-schema.ts";
import { bindings, columnsOf, int8, type Queries, rowsOf, type Values } from "../queries.ts";

/** Conditions on the parties a filter names. */
export const partyConditions = (
  { agentOwner, merchant }: EscrowFilter,
  { bind }: ReturnType<typeof bindings>,
): ReadonlyArray<string> => [
  ...(agentOwner === undefined ? [] : [`agent_owner = ${bind(addressToBytes(agentOwner))}`]),
  ...(merchant === undefined ? [] : [`merchant = ${bind(addressToBytes(merchant))}`]),
];

/**
 * One statement whose rows are those of several runs merged: each run is in order and ends at the
 * limit, so that the server reads no further in any of them.
 */
export const mergedRuns = (runs: ReadonlyArray<string>, order: string, limit: string): string => {
  const tail = `ORDER BY ${order} LIMIT ${limit}`;
  const [only] = runs;
  if (runs.length === 1) return `${only} ${tail}`;
  return `${runs.map((run) => `(${run} ${tail})`).join(" UNION ALL ")} ${tail}`;
};

/** A statement whose rows are those of a page that is in order already, and none while the index has no mark. */
export const shown = (page: string, order: string): string =>
  `SELECT * FROM (${page}) AS page WHERE (SELECT mark_count IS NOT NULL FROM ledger) ORDER BY ${order}`;

/** What a row of an escrow binds, in the order of `escrowValues`. All but `account` repeat what it is searched by. */
export const ESCROW_COLUMNS = columnsOf({
  created_seq: "INT8",
  settled_seq: "INT8",
  expires_at: "INT8",
  delivery_seconds: "INT8",
  state: "INT2",
  address: "BYTEA",
  agent_owner: "BYTEA",
  merchant: "BYTEA",
  pending_hash: "BYTEA",
  settled_hash: "BYTEA",
  account: "BYTEA",
});

/** The columns' values of an escrow's body. Bytes are parts of it. */
export const escrowValues = (body: Uint8Array): Values => {
  const fields = fieldsOf(body);
  const state = fields.u8(BODY_AT.state);
  const isDelivered = stateOf(state) === "Fulfilled" || stateOf(state) === "PartiallyFulfilled";
  const bytes = (at: number) => body.subarray(at, at + 32);
  const { pendingHash, settledHash } = digestsIn(body);
  return [
    fields.u64(BODY_AT.createdSeq),
    isSettledBody(body) ? fields.u64(BODY_AT.settledSeq) : null,
    fields.i64(BODY_AT.expiresAt),
    isDelivered ? fields.i64(BODY_AT.settledAt) - fields.i64(BODY_AT.createdAt) : null,
    state,
    bytes(BODY_AT.address),
    bytes(BODY_AT.agentOwner),
    bytes(BODY_AT.merchant),
    pendingHash,
    settledHash,
    body.subarray(0, BODY_AT.address),
  ];
};

/** What the client reads of a row. */
export type EscrowRow = { readonly address: Uint8Array; readonly account: Uint8Array };

/** The escrow of a row. */
export const escrowOf = ({ address, account }: EscrowRow): Escrow =>
  escrowIn(addressFromBytes(address), account);

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
  if (filter.expiresAfter !== undefined)
    conditions.push(`expires_at > ${bind(filter.expiresAfter)}`);
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

/** Escrows of a hash in an account, newest first: $1 the hash, $2 the limit. */
const hashRun = (begin: number, condition: string): string =>
  `(SELECT created_seq, address, account FROM escrow
    WHERE ${condition}${hashKey(begin)} = substring($1::bytea FOR 8)
      AND substring(account FROM ${begin + 1} FOR 32) = $1::bytea ORDER BY created_seq DESC LIMIT $2)`;

/** The statement for the escrows whose task hash or proof hash is $1. */
export const ESCROWS_OF_HASH = shown(
  `${hashRun(BODY_AT.taskHash, "")}
   UNION ${hashRun(BODY_AT.proofHash, "delivery_seconds IS NOT NULL AND ")}
   ORDER BY created_seq DESC LIMIT $2`,
  "created_seq DESC",
);

/** At most `limit` escrows whose task hash or proof hash is this one, newest first. */
export const escrowsOfHash = async (
  sql: Queries,
  hash: Hash32,
  limit: number,
): Promise<ReadonlyArray<Escrow>> => {
  const rows = await rowsOf<EscrowRow>(sql, ESCROWS_OF_HASH, [hash32ToBytes(hash), limit]);
  return rows.map(escrowOf);
};

/** A row of the table of escrows or, without an account, of that of unseen ones. */
type RowAt = EscrowRow | (UnseenRow & { readonly account: null });

const isSeen = (row: RowAt): row is EscrowRow => row.account !== null;

/**
 * The statement for the escrows at some addresses, with all their fields or unseen. One statement sees both tables at
 * one moment, so that a row which a writer moves between them is in one of the two.
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
