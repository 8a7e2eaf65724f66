import type { Address } from "../address.ts";

/**
 * What sets the accounts of one kind apart from all else that has the same owner. The System program lets anybody
 * create accounts that a program owns, of any length up to 10 MiB, but all zeros: nobody but the program writes to them.
 */
export type AccountKind = {
  /** The program that owns them. */
  readonly program: Address;
  /** How many bytes of data each has. */
  readonly length: number;
  /** The first eight bytes of their data, never all zero. */
  readonly discriminator: Uint8Array;
  /** Offset of a byte of their data that is evenly spread over them, where there is one. */
  readonly splitAt?: number;
};
