import type { Address } from "../address.ts";
import type { AccountFault } from "../ledger/account.ts";

/** What a sync did with the accounts of one kind. */
export type SyncCounts = {
  readonly seen: number;
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly rejected: number;
};

/** An account that a program owns but that is none of its kinds; it is never stored. */
export type RejectedAccount = { readonly address: Address; readonly fault: AccountFault };

/** How far a sync that runs has come. */
export type SyncProgress = {
  readonly phase: "accounts" | "transactions";
  /** Accounts or transactions read so far. */
  readonly done: number;
  /** How many there will be, as far as is known. */
  readonly total: number | null;
};

/** What one completed sync did. */
export type SyncReport = {
  /** Names the run: when it began, and how many this process had begun by then. */
  readonly id: string;
  readonly mode: "snapshot" | "incremental";
  /** Up to which slot the index is now complete. */
  readonly slot: bigint;
  readonly escrows: SyncCounts;
  readonly merchants: SyncCounts;
  readonly eventsAdded: number;
  /** The first rejected accounts, at most 100. */
  readonly rejected: ReadonlyArray<RejectedAccount>;
  /** Stored accounts that the ledger shows no longer, at most 100. Their rows stay. */
  readonly vanished: ReadonlyArray<Address>;
  readonly startedAtMs: number;
  readonly durationMs: number;
};
