import type { Address } from "../address.ts";
import type { Hash32 } from "../hash32.ts";
import type { AccountFault } from "../ledger/account.ts";
import type { UnixSeconds } from "../unix-time.ts";

/** A slot, and the service's own clock when it was read, unix milliseconds. */
type TimedSlot = { readonly slot: bigint; readonly atMs: number };

/** How many events there are, and what the log that holds them goes on from (core/log/tree/frontier.ts). */
export type LoggedEvents = {
  /** The number of the last event. [0, 2^40 - 2], 0 before the first one. */
  readonly count: bigint;
  /**
   * The log's perfect subtrees as the custody program keeps them, 1,280 bytes. Compared by the root that they fold to,
   * never by bytes.
   */
  readonly frontier: Uint8Array;
};

/**
 * How far an index is complete: it holds exactly the state of the ledger after the event numbered `count`, and the
 * log of its events has the root of `frontier`. See docs/log.md.
 */
export type SyncMark = LoggedEvents & {
  /** The finalized slot at which `count` and `frontier` were read. */
  readonly slot: bigint;
  /** The ledger's clock at that slot. */
  readonly ledgerTime: UnixSeconds;
  /** The service's own clock when the sync ended, whole milliseconds. */
  readonly atMs: number;
  /**
   * The last mark whose slot the ledger can have reached without slack: later slots are judged from it. Absent in an
   * older store, where this mark counts.
   */
  readonly paceFrom?: TimedSlot;
};

/** A state of the custody program's history: its count of events and the root of the log that holds them. */
export type HistoryHead = { readonly count: bigint; readonly root: Hash32 };

/** What stands between an index and a ledger that shows another history. Nothing replaces the index by itself. */
export type IndexContradiction = {
  /** `earlier_state`: the ledger's history is the beginning of the index's, or empty. */
  readonly kind: "another_history" | "earlier_state";
  readonly index: HistoryHead;
  /** What the nodes show. Scans have proved it, unless it is an earlier state. */
  readonly ledger: HistoryHead;
  /** The numbers among which the first differing event is, both included; null for an earlier state. */
  readonly firstDifference: { readonly from: bigint; readonly to: bigint } | null;
};

/** The operator's word that one history may replace an index at one root. */
export type RebuildApproval = {
  /** The root of the index's log that may be replaced. */
  readonly replaces: Hash32;
  /** A state that the history must pass through or stand at. */
  readonly by: HistoryHead;
};

/** What a sync did with one kind of account. */
export type SyncCounts = {
  readonly seen: number;
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly rejected: number;
};

/** An account that a program owns but that has none of its kinds. It is never stored. */
export type RejectedAccount = { readonly address: Address; readonly fault: AccountFault };

/** How far the running sync has come. */
export type SyncProgress = {
  readonly phase: "accounts" | "transactions";
  /** Accounts or transactions read so far. */
  readonly done: number;
  /** The expected total, null when not known. */
  readonly total: number | null;
};

/** What one completed sync did. */
export type SyncReport = {
  /** The run's name: its start time, and its number in this process. */
  readonly id: string;
  readonly mode: "snapshot" | "incremental";
  /** The slot at which the count was read. */
  readonly slot: bigint;
  /** The number of the last event that the index holds. */
  readonly count: bigint;
  readonly escrows: SyncCounts;
  readonly merchants: SyncCounts;
  readonly eventsAdded: number;
  /** The first rejected accounts, at most 100. */
  readonly rejected: ReadonlyArray<RejectedAccount>;
  /** Stored merchants that are gone from the ledger, at most 100. Their rows stay. */
  readonly vanished: ReadonlyArray<Address>;
  /** Archived escrows of which nobody has shown the last bytes so far. */
  readonly unseen: number;
  readonly startedAtMs: number;
  readonly durationMs: number;
};

/** No ledger of this kind has come near this speed; 2.5 slots a second is usual. */
const MOST_SLOTS_A_SECOND = 10;
/** Tolerance for a wrong or adjusted clock: over four days of slots. */
const SLOT_SLACK = 1_000_000n;
/** The first ledger of this kind began on 16 March 2020. */
const FIRST_LEDGER: TimedSlot = { slot: 0n, atMs: 1_584_316_800_000 };

/** The slot and time from which slots above a mark are judged. */
const judgedFrom = (mark: SyncMark | null, nowMs: number): TimedSlot => {
  const from = mark === null ? FIRST_LEDGER : (mark.paceFrom ?? mark);
  // After the clock was set back nobody knows how long ago that was.
  return from.atMs > nowMs ? { slot: mark?.slot ?? 0n, atMs: nowMs } : from;
};

const paced = ({ slot, atMs }: TimedSlot, nowMs: number): bigint =>
  slot + BigInt(Math.ceil(((nowMs - atMs) / 1000) * MOST_SLOTS_A_SECOND));

/** The highest slot that the ledger can have reached at a time, given the mark before; `nowMs` in unix milliseconds. */
export const highestPlausibleSlot = (mark: SyncMark | null, nowMs: number): bigint =>
  paced(judgedFrom(mark, nowMs), nowMs) + SLOT_SLACK;

/**
 * The `paceFrom` of the mark that follows another one, at a slot read at `nowMs`. A slot that needs the slack is not
 * measured from: otherwise false slots would be granted it anew, each from the one before.
 */
export const nextPaceFrom = (mark: SyncMark | null, slot: bigint, nowMs: number): TimedSlot => {
  const from = judgedFrom(mark, nowMs);
  return slot <= paced(from, nowMs) ? { slot, atMs: nowMs } : from;
};
