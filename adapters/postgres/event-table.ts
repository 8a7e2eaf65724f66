import { type Address, addressFromBytes, addressToBytes } from "../../core/domain/address.ts";
import { chainedEventHash } from "../../core/domain/index/event-chain.ts";
import { type Hash32, hash32FromBytes, hash32ToBytes } from "../../core/domain/hash32.ts";
import {
  ledgerSignatureFromBytes,
  ledgerSignatureToBytes,
} from "../../core/domain/ledger/signature.ts";
import {
  EVENT_KINDS,
  type EventReference,
  type IndexedEvent,
  provesEvent,
  type SettlementEvent,
} from "../../core/domain/index/settlement-event.ts";
import type { EscrowFilter } from "../../ports/escrow-index.ts";
import { mergedRuns, partyConditions, stateNumber, stateOf, statesOf } from "./escrow-filter.ts";
import {
  arraysOf,
  bindings,
  type Column,
  inputOf,
  namesOf,
  portionsOf,
  type Queries,
  rowsOf,
  type Values,
} from "./queries.ts";

/** What an event binds when it is written. */
const COLUMNS: ReadonlyArray<Column> = [
  { name: "position", type: "INT8" },
  { name: "escrow", type: "TEXT" },
  { name: "kind", type: "INT2" },
  { name: "state", type: "INT2" },
  { name: "agent_owner", type: "BYTEA" },
  { name: "merchant", type: "BYTEA" },
  { name: "mint", type: "BYTEA" },
  { name: "amount", type: "NUMERIC" },
  { name: "proof_hash", type: "BYTEA" },
  { name: "occurred_at", type: "INT8" },
  { name: "chain_hash", type: "BYTEA" },
  { name: "refundable_from", type: "INT8" },
];

type Row = {
  readonly position: bigint;
  readonly escrow: Address;
  readonly kind: number;
  readonly state: number;
  readonly agent_owner: Uint8Array;
  readonly merchant: Uint8Array;
  readonly mint: Uint8Array;
  readonly amount: string;
  readonly proof_hash: Uint8Array | null;
  readonly occurred_at: bigint;
  readonly chain_hash: Uint8Array;
  readonly signature: Uint8Array | null;
  readonly slot: string | null;
};

const indexedEventOf = (row: Row): IndexedEvent => {
  const kind = EVENT_KINDS[row.kind];
  if (kind === undefined) throw new Error("no event of another kind is ever written");
  return {
    event: {
      id: `${row.escrow}:${kind}`,
      kind,
      escrow: row.escrow,
      agentOwner: addressFromBytes(row.agent_owner),
      merchant: addressFromBytes(row.merchant),
      mint: addressFromBytes(row.mint),
      state: stateOf(row.state),
      amount: BigInt(row.amount),
      proofHash: row.proof_hash && hash32FromBytes(row.proof_hash),
      occurredAt: row.occurred_at,
    },
    position: row.position,
    chainHash: hash32FromBytes(row.chain_hash),
    signature: row.signature && ledgerSignatureFromBytes(row.signature),
    slot: row.slot === null ? null : BigInt(row.slot),
  };
};

/** The newest link of the event chain. */
export type ChainEnd = { readonly position: bigint; readonly chainHash: Hash32 };

/** Which of the events are not in the store, and how their escrows stand there. */
const unknownEvents = (sql: Queries, events: ReadonlyArray<SettlementEvent>) => {
  const columns: ReadonlyArray<Column> = [
    { name: "number", type: "INT4" },
    { name: "escrow", type: "TEXT" },
    { name: "kind", type: "INT2" },
  ];
  return rowsOf<{ number: number; state: number; expires_at: bigint }>(
    sql,
    `SELECT input.number, escrow.state, escrow.expires_at
     FROM ${inputOf(columns)} JOIN escrow ON escrow.address = input.escrow
     WHERE NOT EXISTS (SELECT FROM event WHERE event.escrow = input.escrow AND event.kind = input.kind)
     ORDER BY input.number`,
    arraysOf(
      sql,
      columns,
      events.map((event, number) => [number, event.escrow, EVENT_KINDS.indexOf(event.kind)]),
    ),
  );
};

/** `appendEvents` of one portion. */
const appendPortion = async (
  sql: Queries,
  events: ReadonlyArray<SettlementEvent>,
  end: ChainEnd,
): Promise<ChainEnd> => {
  let { position, chainHash } = end;
  const rows: Array<Values> = [];
  const written = new Set<string>();
  for (const { number, state, expires_at } of await unknownEvents(sql, events)) {
    const event = events[number];
    if (event === undefined || written.has(event.id)) continue;
    if (!provesEvent(stateOf(state), event)) continue;
    written.add(event.id);
    position++;
    chainHash = chainedEventHash(chainHash, event);
    rows.push([
      position,
      event.escrow,
      EVENT_KINDS.indexOf(event.kind),
      stateNumber(event.state),
      addressToBytes(event.agentOwner),
      addressToBytes(event.merchant),
      addressToBytes(event.mint),
      event.amount,
      event.proofHash && hash32ToBytes(event.proofHash),
      event.occurredAt,
      hash32ToBytes(chainHash),
      stateOf(state) === "Pending" ? expires_at : null,
    ]);
  }
  if (rows.length > 0)
    await rowsOf(
      sql,
      `INSERT INTO event (${namesOf(COLUMNS)}) SELECT ${namesOf(COLUMNS)} FROM ${inputOf(COLUMNS)}`,
      arraysOf(sql, COLUMNS, rows),
    );
  return { position, chainHash };
};

/**
 * Writes the events that are new and proved, in this order behind `end`, and returns the new end. Whoever
 * calls it holds the lock on the ledger's row.
 */
export const appendEvents = async (
  sql: Queries,
  events: ReadonlyArray<SettlementEvent>,
  end: ChainEnd,
): Promise<ChainEnd> => {
  let last = end;
  for (const portion of portionsOf(events)) last = await appendPortion(sql, portion, last);
  return last;
};

/** Keeps the events of escrows in step with rows that have changed. */
export const followEscrows = async (
  sql: Queries,
  escrows: ReadonlyArray<string>,
): Promise<void> => {
  if (escrows.length === 0) return;
  await rowsOf(
    sql,
    `UPDATE event SET refundable_from = CASE WHEN escrow.state = 0 THEN escrow.expires_at END
     FROM escrow
     WHERE escrow.address = ANY ($1) AND event.escrow = escrow.address AND event.kind = 0`,
    [sql.array([...escrows], "TEXT")],
  );
};

/** Notes the transactions of events that are in the store and have none; the first of several counts. */
export const referEvents = async (
  sql: Queries,
  references: ReadonlyArray<EventReference>,
): Promise<void> => {
  if (references.length === 0) return;
  const columns: ReadonlyArray<Column> = [
    { name: "escrow", type: "TEXT" },
    { name: "kind", type: "INT2" },
    { name: "signature", type: "BYTEA" },
    { name: "slot", type: "NUMERIC" },
  ];
  const first = new Map(references.toReversed().map((it) => [`${it.escrow}:${it.kind}`, it]));
  const rows = Array.from(first.values(), ({ escrow, kind, signature, slot }) => [
    escrow,
    EVENT_KINDS.indexOf(kind),
    ledgerSignatureToBytes(signature),
    slot,
  ]);
  await rowsOf(
    sql,
    `UPDATE event SET signature = input.signature, slot = input.slot FROM ${inputOf(columns)}
     WHERE event.escrow = input.escrow AND event.kind = input.kind AND event.signature IS NULL`,
    arraysOf(sql, columns, rows),
  );
};

/** From where a page of events goes on, and in which direction; null is the newest event of all. */
export type EventPlace =
  | { readonly before: bigint | null; readonly after?: undefined }
  | { readonly after: bigint; readonly before?: undefined };

/** The statement for a page of events, null for a filter that nothing can meet. */
export const eventPageQuery = (
  filter: EscrowFilter,
  limit: number,
  { before, after }: EventPlace,
): { readonly text: string; readonly values: Values } | null => {
  const bound = bindings();
  const { bind, values } = bound;
  const parties = partyConditions(filter, bound);
  const conditions = [...parties];
  if (after !== undefined) conditions.push(`position > ${bind(after)}`);
  else if (before !== null) conditions.push(`position < ${bind(before)}`);
  if (filter.refundableAt !== undefined)
    conditions.push(`refundable_from <= ${bind(filter.refundableAt)}`);
  // Without a party or a state the events are in order as they are.
  const whole = parties.length === 0 && filter.state === undefined;
  const states = statesOf(filter).map((state) => `state = ${stateNumber(state)}`);
  if (states.length === 0) return null;
  const runs = (whole ? ["true"] : states).map((state) =>
    [`SELECT * FROM event WHERE ${state}`, ...conditions].join(" AND "),
  );
  const order = after === undefined ? "position DESC" : "position";
  return { text: mergedRuns(runs, order, bind(limit)), values };
};

/** A page of events: newest first below a place, or oldest first above one. */
export const eventPage = async (
  sql: Queries,
  ...page: Parameters<typeof eventPageQuery>
): Promise<ReadonlyArray<IndexedEvent>> => {
  const query = eventPageQuery(...page);
  return query === null
    ? []
    : (await rowsOf<Row>(sql, query.text, query.values)).map((row) => indexedEventOf(row));
};

/** Events above `after` whose transaction is not known, oldest first. */
export const eventsWithoutReference = async (
  sql: Queries,
  limit: number,
  after: bigint,
): Promise<ReadonlyArray<IndexedEvent>> =>
  (
    await rowsOf<Row>(
      sql,
      "SELECT * FROM event WHERE signature IS NULL AND position > $1 ORDER BY position LIMIT $2",
      [after, limit],
    )
  ).map((row) => indexedEventOf(row));

/** The events of one escrow, oldest first. */
export const eventsOfEscrow = async (
  sql: Queries,
  escrow: Address,
): Promise<ReadonlyArray<IndexedEvent>> =>
  (await rowsOf<Row>(sql, "SELECT * FROM event WHERE escrow = $1 ORDER BY position", [escrow])).map(
    (row) => indexedEventOf(row),
  );
