import type { Address } from "../../core/domain/address.ts";
import type { IndexedEscrow, UnseenEscrow } from "../../core/domain/index/indexed-escrow.ts";
import type { EventReference } from "../../core/domain/index/settlement-event.ts";
import type { SyncMark } from "../../core/domain/index/sync-report.ts";
import type { Merchant } from "../../core/domain/merchant/merchant.ts";
import type { IndexChanges, Observed } from "../../ports/index/index-writer.ts";

/** The rows of an index. Rows of escrows are keyed by `createdSeq`, transactions by position. */
export class IndexRows {
  readonly escrows = new Map<bigint, IndexedEscrow>();
  readonly unseen = new Map<bigint, UnseenEscrow>();
  readonly merchants = new Map<Address, Observed<Merchant>>();
  readonly transactions = new Map<bigint, EventReference>();
  mark: SyncMark | null = null;
  /** When the last snapshot was complete, unix milliseconds. */
  snapshotAtMs: number | null = null;
  /** Grows with every write. */
  revision = 0n;

  /**
   * Inserts or replaces rows. A complete row replaces an unseen row of the same escrow, and an unseen row a complete
   * one.
   */
  put({
    escrows,
    unseen,
    merchants,
  }: Pick<IndexChanges, "escrows" | "unseen" | "merchants">): void {
    for (const row of unseen) {
      this.escrows.delete(row.createdSeq);
      this.unseen.set(row.createdSeq, row);
    }
    for (const row of escrows) {
      this.unseen.delete(row.createdSeq);
      this.escrows.set(row.createdSeq, row);
    }
    for (const observed of merchants) this.merchants.set(observed.row.address, observed);
  }

  /** Removes every row and transaction. The mark stays. */
  clear(): void {
    this.escrows.clear();
    this.unseen.clear();
    this.merchants.clear();
    this.transactions.clear();
  }
}
