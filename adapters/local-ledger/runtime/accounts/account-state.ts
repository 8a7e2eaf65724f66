import type { Address } from "../../../../core/domain/address.ts";

/** Everything the ledger holds at one address. */
export type AccountState = {
  /** u64 */
  readonly lamports: bigint;
  readonly owner: Address;
  readonly data: Uint8Array;
  readonly executable: boolean;
  /** u64; 2^64-1 for accounts made by transactions (Agave `rent_collector.rs`: RENT_EXEMPT_RENT_EPOCH). */
  readonly rentEpoch: bigint;
};

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;

/** Whether two states are equal; undefined means no account. */
export const sameAccountState = (
  a: AccountState | undefined,
  b: AccountState | undefined,
): boolean => {
  if (a === undefined || b === undefined) return a === b;
  return (
    a.lamports === b.lamports &&
    a.owner === b.owner &&
    a.executable === b.executable &&
    sameBytes(a.data, b.data)
  );
};
