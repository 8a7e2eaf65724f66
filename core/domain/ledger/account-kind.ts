import type { Address } from "../address.ts";

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
