import type { Escrow } from "../escrow/escrow.ts";

/**
 * Counts of the escrows that name a merchant. They are no rating: anyone can open and refund an escrow that names a
 * merchant.
 */
export type MerchantStats = {
  readonly escrows: number;
  readonly pending: number;
  readonly fulfilled: number;
  readonly partiallyFulfilled: number;
  readonly refunded: number;
  /** Lower median of seconds from creation to release, null before the first release. */
  readonly medianDeliverySeconds: bigint | null;
};

/** The statistics of a merchant without escrows. */
export const NO_ESCROWS: MerchantStats = {
  escrows: 0,
  pending: 0,
  fulfilled: 0,
  partiallyFulfilled: 0,
  refunded: 0,
  medianDeliverySeconds: null,
};

/** The statistics of one merchant's escrows, in any order. */
export const merchantStats = (escrows: ReadonlyArray<Escrow>): MerchantStats => {
  const count = (state: Escrow["state"]) => escrows.filter((e) => e.state === state).length;
  const deliveries = escrows
    .flatMap((e) =>
      e.attestation !== null && e.settledAt !== null ? [e.settledAt - e.createdAt] : [],
    )
    .sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  return {
    escrows: escrows.length,
    pending: count("Pending"),
    fulfilled: count("Fulfilled"),
    partiallyFulfilled: count("PartiallyFulfilled"),
    refunded: count("Refunded"),
    medianDeliverySeconds: deliveries[(deliveries.length - 1) >> 1] ?? null,
  };
};
