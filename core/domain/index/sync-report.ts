import type { Address } from "../address.ts";
import type { AccountFault } from "../ledger/account.ts";

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
