import { Effect } from "effect";
import type { Address } from "../../core/domain/address.ts";
import { type Escrow, isRefundable } from "../../core/domain/escrow/escrow.ts";
import type { IndexedEvent } from "../../core/domain/index/settlement-event.ts";
import { matchesMerchant, nameKey } from "../../core/domain/merchant/merchant-search.ts";
import { type Merchant, merchantStats } from "../../core/domain/merchant/merchant.ts";
import { indexedEventsOf } from "../../core/log/leaf/indexed-leaves.ts";
import type {
  EscrowFilter,
  EventFilter,
  IndexReader,
  MerchantCursor,
  MerchantFilter,
} from "../../ports/index/index-reader.ts";
import type { IndexRows } from "./index-rows.ts";

const names = (filter: EscrowFilter, row: { agentOwner: Address; merchant: Address }): boolean =>
  (filter.agentOwner === undefined || filter.agentOwner === row.agentOwner) &&
  (filter.merchant === undefined || filter.merchant === row.merchant);

const isInTime = ({ refundableAt, expiresAfter }: EscrowFilter, escrow: Escrow): boolean =>
  (refundableAt === undefined || isRefundable(escrow, refundableAt)) &&
  (expiresAfter === undefined || escrow.expiresAt > expiresAfter);

const isOf = (filter: EscrowFilter, escrow: Escrow): boolean =>
  names(filter, escrow) &&
  (filter.state === undefined || filter.state === escrow.state) &&
  isInTime(filter, escrow);

const isEventOf = (filter: EventFilter, { event, signature }: IndexedEvent, of: Escrow): boolean =>
  names(filter, event) &&
  (filter.state === undefined || filter.state === event.state) &&
  isInTime(filter, of) &&
  (filter.escrow === undefined || filter.escrow === event.escrow) &&
  (filter.withoutTransaction !== true || signature === null);

const matches = (filter: MerchantFilter, merchant: Merchant): boolean =>
  (filter.status === undefined || filter.status === merchant.status) &&
  (filter.minReputation === undefined || merchant.reputation >= filter.minReputation) &&
  (filter.text === undefined || matchesMerchant(merchant, filter.text));

/** Earliest first: by registration, then by address text. */
const earliestFirst = (a: MerchantCursor, b: MerchantCursor): number =>
  a.registeredAt === b.registeredAt
    ? a.address < b.address
      ? -1
      : a.address > b.address
        ? 1
        : 0
    : a.registeredAt < b.registeredAt
      ? -1
      : 1;

/** The reads of an index in memory. */
export const indexReaderOf = (rows: IndexRows): IndexReader["Service"] => {
  /** Every escrow, newest first. */
  const all = (): ReadonlyArray<Escrow> =>
    Array.from(rows.escrows.values(), ({ escrow }) => escrow).sort((a, b) =>
      a.createdSeq < b.createdSeq ? 1 : -1,
    );
  const eventsOf = (filter: EventFilter): Array<IndexedEvent> =>
    Array.from(rows.escrows.values()).flatMap((row) =>
      indexedEventsOf(row, (position) => rows.transactions.get(position)).filter((event) =>
        isEventOf(filter, event, row.escrow),
      ),
    );
  const sameNames = (name: string, except: Address): number =>
    Array.from(rows.merchants.values()).filter(
      ({ row }) => row.address !== except && nameKey(row.name) === nameKey(name),
    ).length;
  return {
    escrows: (filter, limit, before) =>
      Effect.sync(() =>
        all()
          .filter((escrow) => isOf(filter, escrow))
          .filter(({ createdSeq }) => before === null || createdSeq < before)
          .slice(0, limit),
      ),
    escrowsAt: (addresses) =>
      Effect.sync(() => {
        const wanted = new Set(addresses);
        return {
          escrows: all().filter(({ address }) => wanted.has(address)),
          unseen: [...rows.unseen.values()].filter(({ address }) => wanted.has(address)),
        };
      }),
    escrowsOfHash: (hash, limit) =>
      Effect.sync(() =>
        all()
          .filter((one) => one.taskHash === hash || one.attestation?.proofHash === hash)
          .slice(0, limit),
      ),
    events: (filter, limit, range) =>
      Effect.sync(() => {
        const oldestFirst = eventsOf(filter).sort((a, b) => (a.position < b.position ? -1 : 1));
        if ("after" in range)
          return oldestFirst.filter(({ position }) => position > range.after).slice(0, limit);
        const { before } = range;
        return oldestFirst
          .filter(({ position }) => before === null || position < before)
          .toReversed()
          .slice(0, limit);
      }),
    merchants: (filter, limit, after) =>
      Effect.sync(() => {
        const escrows = all();
        return Array.from(rows.merchants.values(), ({ row }) => row)
          .filter((merchant) => matches(filter, merchant))
          .filter((merchant) => after === null || earliestFirst(after, merchant) < 0)
          .sort(earliestFirst)
          .slice(0, limit)
          .map((merchant) => ({
            merchant,
            sameName: sameNames(merchant.name, merchant.address),
            stats: merchantStats(escrows.filter((one) => one.merchant === merchant.wallet)),
          }));
      }),
    sameNames: (name, except) => Effect.sync(() => sameNames(name, except)),
    summary: Effect.sync(() => ({
      escrows: rows.escrows.size,
      unseen: rows.unseen.size,
      merchants: rows.merchants.size,
      mark: rows.mark,
      snapshotAtMs: rows.snapshotAtMs,
      revision: rows.revision,
    })),
  };
};
