import { isDeepStrictEqual } from "node:util";
import { Effect, Layer } from "effect";
import type { Address } from "../../core/domain/address.ts";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import { type Escrow, isRefundable } from "../../core/domain/escrow/escrow.ts";
import { chainedEventHash, eventChainStart } from "../../core/domain/index/event-chain.ts";
import { matchesMerchant, nameKey } from "../../core/domain/merchant/merchant-search.ts";
import { merchantStats } from "../../core/domain/merchant/merchant-stats.ts";
import type { Merchant } from "../../core/domain/merchant/merchant.ts";
import {
  type EventReference,
  type IndexedEvent,
  provesEvent,
  type SettlementEvent,
} from "../../core/domain/index/settlement-event.ts";
import {
  EscrowIndex,
  type EscrowFilter,
  type EscrowCursor,
  type MerchantCursor,
  type MerchantFilter,
  type RowChanges,
  type Observed,
  type SyncCheckpoint,
} from "../../ports/escrow-index.ts";

type Rows<T> = Map<Address, Observed<T>>;

/**
 * Writes each observation that is not older than its row and differs from it. Final rows never change. With `raise`, an
 * equal observation still raises the row's slot.
 */
const put = <T extends { readonly address: Address }>(
  rows: Rows<T>,
  observations: ReadonlyArray<Observed<T>>,
  { isFinal, raise }: { readonly isFinal: (row: T) => boolean; readonly raise: boolean },
): RowChanges => {
  const changes = { created: 0, updated: 0, unchanged: 0 };
  for (const observed of observations) {
    const stored = rows.get(observed.row.address);
    if (stored === undefined) {
      changes.created++;
      rows.set(observed.row.address, observed);
      continue;
    }
    const stale = isFinal(stored.row) || observed.slot < stored.slot;
    const equal = isDeepStrictEqual(stored.row, observed.row);
    changes[stale || equal ? "unchanged" : "updated"]++;
    if (!stale && (raise || !equal)) rows.set(observed.row.address, observed);
  }
  return changes;
};

/** Newest first: by time, then by address text, both descending. */
const newestFirst = (a: EscrowCursor, b: EscrowCursor): number =>
  a.createdAt === b.createdAt
    ? a.address < b.address
      ? 1
      : a.address > b.address
        ? -1
        : 0
    : a.createdAt < b.createdAt
      ? 1
      : -1;

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

const names = (filter: EscrowFilter, row: { agentOwner: Address; merchant: Address }): boolean =>
  (filter.agentOwner === undefined || filter.agentOwner === row.agentOwner) &&
  (filter.merchant === undefined || filter.merchant === row.merchant);

const hasState = (filter: EscrowFilter, row: Pick<Escrow, "state">): boolean =>
  filter.state === undefined || filter.state === row.state;

const refundable = (filter: EscrowFilter, escrow: Escrow | undefined): boolean =>
  filter.refundableAt === undefined ||
  (escrow !== undefined && isRefundable(escrow, filter.refundableAt));

const matches = (filter: MerchantFilter, merchant: Merchant): boolean =>
  (filter.status === undefined || filter.status === merchant.status) &&
  (filter.minReputation === undefined || merchant.reputation >= filter.minReputation) &&
  (filter.text === undefined || matchesMerchant(merchant, filter.text));

/** An index in this process's memory, lost when it ends. Every query reads all rows. */
export const escrowIndexMemory = (ledger: {
  /** The hash of the ledger's first block, base58. */
  readonly genesisHash: string;
  readonly deployment: Deployment;
}) =>
  Layer.sync(EscrowIndex, () => {
    const escrows: Rows<Escrow> = new Map();
    const merchants: Rows<Merchant> = new Map();
    const events: Array<IndexedEvent> = [];
    /** Each event's index in `events`. */
    const eventIndexes = new Map<string, number>();
    const sameNames = (name: string, except: Address): number =>
      Array.from(merchants.values()).filter(
        ({ row }) => row.address !== except && nameKey(row.name) === nameKey(name),
      ).length;
    let checkpoint: SyncCheckpoint | null = null;
    let revision = 0n;

    const append = (event: SettlementEvent): boolean => {
      if (eventIndexes.has(event.id)) return false;
      if (!provesEvent(escrows.get(event.escrow)?.row.state, event)) return false;
      const previous =
        events.at(-1)?.chainHash ?? eventChainStart(ledger.genesisHash, ledger.deployment);
      eventIndexes.set(event.id, events.length);
      events.push({
        event,
        position: BigInt(events.length + 1),
        chainHash: chainedEventHash(previous, event),
        signature: null,
        slot: null,
      });
      return true;
    };

    const refer = ({ escrow, kind, signature, slot }: EventReference): void => {
      const index = eventIndexes.get(`${escrow}:${kind}`);
      const known = index === undefined ? undefined : events[index];
      if (index === undefined || known === undefined || known.signature !== null) return;
      events[index] = { ...known, signature, slot };
    };
    const isOf =
      (filter: EscrowFilter) =>
      ({ event }: IndexedEvent): boolean =>
        names(filter, event) &&
        hasState(filter, event) &&
        refundable(filter, escrows.get(event.escrow)?.row);

    return EscrowIndex.of({
      revision: Effect.sync(() => revision),
      apply: (batch) =>
        Effect.sync(() => {
          revision += 1n;
          const result = {
            escrows: put(escrows, batch.escrows, {
              isFinal: (escrow) => escrow.state !== "Pending",
              raise: false,
            }),
            merchants: put(merchants, batch.merchants, { isFinal: () => false, raise: true }),
            eventsAdded: batch.events.filter(append).length,
          };
          for (const reference of batch.references ?? []) refer(reference);
          if (
            batch.checkpoint !== null &&
            (checkpoint === null || batch.checkpoint.slot >= checkpoint.slot)
          ) {
            checkpoint = batch.checkpoint;
          }
          return result;
        }),
      escrows: (filter, limit, after) =>
        Effect.sync(() =>
          Array.from(escrows.values(), ({ row }) => row)
            .filter((row) => names(filter, row) && hasState(filter, row) && refundable(filter, row))
            .filter((row) => after === null || newestFirst(after, row) < 0)
            .sort(newestFirst)
            .slice(0, limit),
        ),
      escrowsAt: (addresses) =>
        Effect.sync(() =>
          addresses.flatMap((address) => {
            const row = escrows.get(address)?.row;
            return row === undefined ? [] : [row];
          }),
        ),
      events: (filter, limit, before) =>
        Effect.sync(() =>
          events
            .filter(({ position }) => before === null || position < before)
            .filter(isOf(filter))
            .toReversed()
            .slice(0, limit),
        ),
      eventsAfter: (filter, limit, after) =>
        Effect.sync(() =>
          events
            .filter(({ position }) => position > after)
            .filter(isOf(filter))
            .slice(0, limit),
        ),
      eventsWithoutReference: (limit, after) =>
        Effect.sync(() =>
          events
            .filter(({ position, signature }) => position > after && signature === null)
            .slice(0, limit),
        ),
      eventsOfEscrow: (escrow) =>
        Effect.sync(() => events.filter(({ event }) => event.escrow === escrow)),
      merchants: (filter, limit, after) =>
        Effect.sync(() => {
          const all = Array.from(escrows.values(), ({ row }) => row);
          return Array.from(merchants.values(), ({ row }) => row)
            .filter((merchant) => matches(filter, merchant))
            .filter((merchant) => after === null || earliestFirst(after, merchant) < 0)
            .sort(earliestFirst)
            .slice(0, limit)
            .map((merchant) => ({
              merchant,
              sameName: sameNames(merchant.name, merchant.address),
              stats: merchantStats(all.filter((e) => e.merchant === merchant.wallet)),
            }));
        }),
      sameNames: (name, except) => Effect.sync(() => sameNames(name, except)),
      summary: Effect.sync(() => ({
        escrows: escrows.size,
        merchants: merchants.size,
        events: events.length,
        checkpoint,
      })),
    });
  });
