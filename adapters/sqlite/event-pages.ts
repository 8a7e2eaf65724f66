import type { Database } from "bun:sqlite";
import type { Address } from "../../core/domain/address.ts";
import { hash32FromBytes } from "../../core/domain/hash32.ts";
import { ledgerSignatureFromBytes } from "../../core/domain/ledger/signature.ts";
import type { IndexedEvent } from "../../core/domain/index/settlement-event.ts";
import type { EscrowFilter } from "../../ports/escrow-index.ts";
import type { AddressBook } from "./address-book.ts";
import { addressPrefix } from "./address-prefix.ts";
import { fromColumn, type NamedValues } from "./columns.ts";
import { filterValues, partyConditions, statesOf } from "./escrow-filter.ts";
import { kindNumbersOf, kindOf, stateAfter } from "./event-kind.ts";

type Row = {
  readonly position: bigint;
  readonly address: Address;
  readonly kind: bigint;
  readonly agent_owner: bigint;
  readonly merchant: bigint;
  readonly mint: bigint;
  readonly amount: bigint;
  readonly proof_hash: Uint8Array | null;
  readonly occurred_at: bigint;
  readonly chain_hash: Uint8Array;
  readonly signature: Uint8Array | null;
  readonly transaction_slot: bigint | null;
};

const COLUMNS = `address, kind, event.agent_owner, event.merchant, event.mint, event.amount, proof_hash,
  occurred_at, chain_hash, signature, transaction_slot`;
const WITH_ESCROW = `SELECT position, ${COLUMNS}
  FROM event CROSS JOIN escrow ON escrow.number = event.escrow`;
const REFUNDABLE = "escrow.state = 0 AND escrow.expires_at <= $refundableAt";
/** How many events are looked through at once for those without a transaction. */
const LOOKED_THROUGH = 5000n;

const indexedEventOf = (book: AddressBook, row: Row): IndexedEvent => {
  const kind = kindOf(row.kind);
  return {
    event: {
      id: `${row.address}:${kind}`,
      kind,
      escrow: row.address,
      agentOwner: book.addressOf(row.agent_owner),
      merchant: book.addressOf(row.merchant),
      mint: book.addressOf(row.mint),
      state: stateAfter(kind),
      amount: fromColumn(row.amount),
      // What settled an escrow never changes, so that its proof is the settlement's.
      proofHash:
        kind === "escrow_created" || row.proof_hash === null
          ? null
          : hash32FromBytes(row.proof_hash),
      occurredAt: row.occurred_at,
    },
    position: row.position,
    chainHash: hash32FromBytes(row.chain_hash),
    signature: row.signature && ledgerSignatureFromBytes(row.signature),
    slot: row.transaction_slot,
  };
};

/**
 * The select statements whose results, merged by position, are the events of a filter: a run of an index for each
 * kind, or a single run where none is asked for.
 */
const runsOf = (filter: EscrowFilter, bound: "<" | ">"): ReadonlyArray<string> => {
  const parties = partyConditions(filter, "event.");
  const place = `event.position ${bound} $bound`;
  const kinds = kindNumbersOf(statesOf(filter));
  if (filter.refundableAt !== undefined && kinds.length === 0) return [];
  if (parties.length > 0) {
    const more = filter.refundableAt === undefined ? [] : [REFUNDABLE];
    return kinds.map((kind) =>
      [`${WITH_ESCROW} WHERE event.kind = ${kind}`, place, ...parties, ...more].join(" AND "),
    );
  }
  if (filter.refundableAt !== undefined) {
    return [
      `SELECT created_event AS position, ${COLUMNS}
       FROM escrow INDEXED BY escrow_refundable CROSS JOIN event ON event.position = created_event
       WHERE ${REFUNDABLE} AND created_event ${bound} $bound`,
    ];
  }
  if (filter.state === undefined) return [`${WITH_ESCROW} WHERE ${place}`];
  return kinds.map((kind) => `${WITH_ESCROW} WHERE event.kind = ${kind} AND ${place}`);
};

/** Reads pages of the table `event`. */
export const eventPages = (db: Database, book: AddressBook) => {
  const count = db.query<{ count: bigint | null }, []>("SELECT max(position) AS count FROM event");
  const ofEscrow = db.query<Row, [number, string]>(
    `SELECT position, ${COLUMNS}
     FROM escrow CROSS JOIN event ON event.position IN (escrow.created_event, escrow.settled_event)
     WHERE escrow.address_prefix = ?1 AND escrow.address = ?2`,
  );
  const unreferenced = db.query<Row, [bigint, bigint, number]>(
    `${WITH_ESCROW} WHERE event.position > ?1 AND event.position <= ?2 AND event.signature IS NULL
     ORDER BY event.position LIMIT ?3`,
  );

  const read = (
    filter: EscrowFilter,
    limit: number,
    order: "ASC" | "DESC",
    bound: bigint,
  ): ReadonlyArray<IndexedEvent> => {
    const values = filterValues(book, filter);
    if (values === undefined) return [];
    const runs = runsOf(filter, order === "ASC" ? ">" : "<");
    if (runs.length === 0) return [];
    return db
      .query<Row, NamedValues>(
        `${runs.join(" UNION ALL ")} ORDER BY position ${order} LIMIT $limit`,
      )
      .all({ limit, bound, ...values })
      .map((row) => indexedEventOf(book, row));
  };

  const total = (): bigint => count.get()?.count ?? 0n;

  return {
    count: (): number => Number(total()),
    /** Newest first, below `before`. */
    page: (filter: EscrowFilter, limit: number, before: bigint | null) =>
      read(filter, limit, "DESC", before ?? 2n ** 63n - 1n),
    /** Oldest first, above `after`. */
    after: (filter: EscrowFilter, limit: number, after: bigint) =>
      read(filter, limit, "ASC", after),
    /**
     * Those whose transaction is not known, oldest first, above `after`; in steps, between which others may run,
     * since there may be few of them among many.
     */
    *withoutReference(limit: number, after: bigint): Generator<void, ReadonlyArray<IndexedEvent>> {
      const found: Array<Row> = [];
      const last = total();
      for (let from = after; from < last && found.length < limit; from += LOOKED_THROUGH) {
        found.push(...unreferenced.all(from, from + LOOKED_THROUGH, limit - found.length));
        yield;
      }
      return found.map((row) => indexedEventOf(book, row));
    },
    /** The events of one escrow, oldest first. */
    ofEscrow: (escrow: Address): ReadonlyArray<IndexedEvent> =>
      ofEscrow
        .all(addressPrefix(escrow), escrow)
        .map((row) => indexedEventOf(book, row))
        .sort((a, b) => (a.position < b.position ? -1 : 1)),
  };
};
