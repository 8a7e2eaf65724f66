import type { LedgerSignature } from "../../domain/ledger/signature.ts";
import type { SyncProgress } from "../../domain/index/sync-report.ts";
import { SnapshotSchedule } from "./snapshot-schedule.ts";

/** The most transactions kept: those of the overlap that each incremental sync reads again. */
const MAX_REMEMBERED = 20_000;

/**
 * What a process remembers from one sync to the next. Losing it costs work, never rows: a sync that knows
 * nothing reads the overlap again and looks for transactions of events from the first one on.
 */
export class SyncMemory {
  readonly snapshots = new SnapshotSchedule();
  /** Behind which event the search for transactions goes on. */
  searchedTo = 0n;
  /** When that search last began with the first event, by the monotonic clock, milliseconds. */
  searchedAllMs: number | null = null;
  /** Null while no sync runs. */
  progress: SyncProgress | null = null;
  readonly #applied = new Set<LedgerSignature>();

  /** Whether a transaction's accounts have been read and applied since it landed. */
  hasApplied(signature: LedgerSignature): boolean {
    return this.#applied.has(signature);
  }

  /** Notes a transaction whose accounts are in the store as they were after it. */
  applied(signature: LedgerSignature): void {
    this.#applied.add(signature);
    if (this.#applied.size <= MAX_REMEMBERED) return;
    const [oldest] = this.#applied;
    if (oldest !== undefined) this.#applied.delete(oldest);
  }
}
