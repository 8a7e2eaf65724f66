import type { IndexContradiction, SyncProgress } from "../../../../domain/index/sync-report.ts";
import type { LedgerSignature } from "../../../../domain/ledger/signature.ts";
import { PeerRecords } from "../archived/take-imports.ts";
import { UnseenEscrows } from "../archived/search-archived.ts";
import { SnapshotSchedule } from "../snapshot-schedule.ts";
import { ReadTransactions, ToldTransactions } from "./follow-history.ts";

/** The most transactions kept: those of the attestor in the overlap, which each sync reads again. */
const MAX_REMEMBERED = 20_000;

/**
 * What a process keeps from one sync to the next. Losing it costs work, never rows: the next sync reads the overlap
 * again and restarts the searches for transactions and bytes.
 */
export class SyncMemory {
  readonly snapshots: SnapshotSchedule;
  readonly unseen = new UnseenEscrows();
  readonly peers = new PeerRecords();
  readonly told = new ToldTransactions();
  readonly transactions = new ReadTransactions();
  /** Whether the last transactions that a node told of changed nothing: then custody's are not read before its count. */
  toldIdly = false;
  /** The slot of the tip up to which this process has followed the merchants' history, null before. */
  merchantsTo: bigint | null = null;
  /** Syncs that ended with a contradiction between the ledger's root and its accounts, one after the other. */
  contradictions = 0;
  /** What the last proof found to contradict the index, null when nothing does. */
  contradiction: IndexContradiction | null = null;
  /** When that was found, milliseconds of a monotonic clock. */
  contradictionProvedMs: number | null = null;
  /** Answers that contradicted the root or each other, since the process began. */
  contradictedAnswers = 0;
  /** Since when the history lacks an event, milliseconds of a monotonic clock; null while it lacks none. */
  gapSinceMs: number | null = null;
  /** Whether some node keeps the history that a sync last asked for. Without it, merchants are scanned. */
  hasHistory = true;
  /** The position after which the search for transactions continues. */
  searchedTo = 0n;
  /** When the search last restarted, milliseconds of a monotonic clock. */
  searchedAllMs: number | null = null;
  /** Null while no sync runs. */
  progress: SyncProgress | null = null;
  readonly #applied = new Set<LedgerSignature>();

  /** `scanEveryMs` is the interval of scans of all merchants, milliseconds; null for none. */
  constructor(scanEveryMs: number | null = null) {
    this.snapshots = new SnapshotSchedule(scanEveryMs);
  }

  /** Whether a transaction's accounts have been applied since it landed. */
  hasApplied(signature: LedgerSignature): boolean {
    return this.#applied.has(signature);
  }

  /** Records that the store holds a transaction's accounts as they were after it. */
  applied(signature: LedgerSignature): void {
    this.#applied.add(signature);
    if (this.#applied.size <= MAX_REMEMBERED) return;
    const [oldest] = this.#applied;
    if (oldest !== undefined) this.#applied.delete(oldest);
  }
}
