import type { Address } from "../address.ts";
import type { LedgerSignature } from "./signature.ts";

/** One transaction in the list of those that name an address. */
export type HistoryEntry = {
  readonly signature: LedgerSignature;
  readonly slot: bigint;
  /** Whether it landed with an error, and so changed nothing but balances. */
  readonly failed: boolean;
};

/** A page of an address's history, newest first. */
export type HistoryPage = {
  readonly entries: ReadonlyArray<HistoryEntry>;
  /**
   * The slot from which on, up to where the page began, no transaction can be missing from it; null when the
   * node does not say how far back its history goes.
   */
  readonly completeFrom: bigint | null;
};

/** One instruction that ran, whoever called it. */
export type ExecutedInstruction = {
  readonly program: Address;
  readonly accounts: ReadonlyArray<Address>;
  /** Null when there are more than 1232 bytes of it. */
  readonly data: Uint8Array | null;
};

/** A finalized transaction, as far as an index needs it. */
export type LedgerTransaction = {
  readonly signature: LedgerSignature;
  readonly slot: bigint;
  readonly failed: boolean;
  /** Who signed: keys, never addresses that a program derives. */
  readonly signers: ReadonlySet<Address>;
  /** Every account it names, those from address tables included. */
  readonly accounts: ReadonlyArray<Address>;
  /** Top-level instructions and, as far as the node keeps them, those that programs called. */
  readonly instructions: ReadonlyArray<ExecutedInstruction>;
  /** Whether the node keeps the instructions that programs called. */
  readonly hasCalls: boolean;
};
