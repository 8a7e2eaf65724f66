import type { Address } from "../address.ts";
import type { Escrow, EscrowState } from "../escrow/escrow.ts";

/** The digests of an escrow's account bytes, from which the leaves of its events follow. */
export type AccountDigests = {
  /** SHA-256 of the account's bytes while Pending, 32 bytes. */
  readonly pendingHash: Uint8Array;
  /** SHA-256 of the account's bytes once settled, 32 bytes; null while Pending. */
  readonly settledHash: Uint8Array | null;
};

/** An escrow and the digests of its account. */
export type DigestedEscrow = AccountDigests & { readonly escrow: Escrow };

/** An archived escrow of which nobody has shown the bytes: numbers, state and digests are all that is known. */
export type UnseenEscrow = AccountDigests & {
  readonly address: Address;
  readonly state: EscrowState;
  readonly createdSeq: bigint;
  /** Null while Pending. */
  readonly settledSeq: bigint | null;
};

/** An escrow as a sync hands it to an index. */
export type IndexedEscrow = UnseenEscrow & {
  /** The account's bytes, from which everything but its address follows. */
  readonly account: Uint8Array;
  /** What these bytes say. A store that keeps bytes never reads it. */
  readonly escrow: Escrow;
};
