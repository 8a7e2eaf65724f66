import type { Address } from "../address.ts";
import type { UnixSeconds } from "../unix-time.ts";

/** Every status of a merchant, at the position of its number in the account (u8). */
export const MERCHANT_STATUSES = ["Active", "Suspended"] as const;

/** Only an Active merchant can be named by a new escrow. */
export type MerchantStatus = (typeof MERCHANT_STATUSES)[number];

/** One registered merchant account, decoded. */
export type Merchant = {
  /** The merchant account's own address, derived from the merchant wallet. */
  readonly address: Address;
  readonly bump: number;
  /** The merchant wallet. */
  readonly wallet: Address;
  /** 1 to 32 bytes of UTF-8 without control characters. */
  readonly name: string;
  readonly status: MerchantStatus;
  /** The Ed25519 key that new escrows record, and whose attestations release them. */
  readonly attestor: Address;
  /** The key before the last rotation, null when there was none. */
  readonly previousAttestor: Address | null;
  readonly attestorSince: UnixSeconds;
  readonly registeredAt: UnixSeconds;
  readonly updatedAt: UnixSeconds;
  /** u32 */
  readonly reputation: number;
  /** u32 */
  readonly slashes: number;
  /** u64 */
  readonly deliveries: bigint;
  /** u64 */
  readonly partialDeliveries: bigint;
  /** Base units of the settlement mint delivered, u64. */
  readonly volume: bigint;
  /** Escrows whose `createdSeq` is at most this cannot be released; 0: nothing was revoked. u64 */
  readonly revokedSeq: bigint;
};
