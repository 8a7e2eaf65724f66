import type { Address } from "../address.ts";
import type { TransactionError } from "../relay/relay-entry.ts";
import type { LedgerSignature } from "./signature.ts";

/** One entry in the list of transactions that name an address. */
export type HistoryEntry = {
  readonly signature: LedgerSignature;
  readonly slot: bigint;
  /** Whether it landed with an error. It then changed nothing but balances. */
  readonly failed: boolean;
  /** Why it failed, where the list says it. */
  readonly error?: TransactionError | null;
};

/** A page of an address's history, newest first. A short page need not be the last one: providers cap pages. */
export type HistoryPage = {
  readonly entries: ReadonlyArray<HistoryEntry>;
  /** The first slot of which the node that listed them keeps history. Null when it does not say. */
  readonly keptFrom: bigint | null;
};

/** One executed instruction, called by the transaction or by a program. */
export type ExecutedInstruction = {
  readonly program: Address;
  readonly accounts: ReadonlyArray<Address>;
  /** Null when it has more than 1232 bytes. */
  readonly data: Uint8Array | null;
};

/** A finalized transaction, reduced to what the index reads. */
export type LedgerTransaction = {
  readonly signature: LedgerSignature;
  readonly slot: bigint;
  readonly failed: boolean;
  /** The signing keys. Addresses that a program derives are not among them. */
  readonly signers: ReadonlySet<Address>;
  /** Every account it names, including those from address tables. */
  readonly accounts: ReadonlyArray<Address>;
  /** Top-level instructions, and those that programs called if the node keeps them. */
  readonly instructions: ReadonlyArray<ExecutedInstruction>;
  /** Whether the node keeps the instructions that programs called. */
  readonly hasCalls: boolean;
};
