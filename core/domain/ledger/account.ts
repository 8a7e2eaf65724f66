import type { Address } from "../address.ts";

/** One account as the ledger holds it. */
export type LedgerAccount = {
  readonly address: Address;
  /** The program that owns the account's data. */
  readonly owner: Address;
  readonly lamports: bigint;
  readonly executable: boolean;
  readonly data: Uint8Array;
};

/** Why an account's bytes are invalid. Names are stable: sync reports show them. */
export type AccountFault =
  | "wrong_owner"
  | "wrong_length"
  | "wrong_discriminator"
  | "unknown_version"
  | "unknown_enum_value"
  | "reserved_bytes_set"
  | "time_out_of_range"
  | "amount_out_of_range"
  | "malformed_name"
  | "fields_contradict_state"
  | "address_not_derived";

/** A decoded account, or the first fault found in it. */
export type Decoded<T> = { readonly value: T } | { readonly fault: AccountFault };

/**
 * How to recognize one kind among the accounts of a program. Anybody can create accounts that a program owns, of up to
 * 10 MiB, through the System program. Their data is all zeros, because only the owner can write it.
 */
export type AccountKind = {
  /** The owning program. */
  readonly program: Address;
  /** Data length in bytes. */
  readonly length: number;
  /** The first eight bytes of the data, never all zero. */
  readonly discriminator: Uint8Array;
  /** Offset of a data byte whose values are evenly spread, if the kind has one. */
  readonly splitAt?: number;
};
