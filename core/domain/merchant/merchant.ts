import type { Address } from "../address.ts";
import type { Escrow } from "../escrow/escrow.ts";
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

/** The most bytes of UTF-8 that a merchant's name has. */
export const MAX_MERCHANT_NAME_BYTES = 32;

/**
 * A name of any length without C0 and C1 control characters and U+007F, and without characters that change the
 * direction of text, with which one name can look like another (Unicode 15, Bidi_Control). A regular expression's
 * source, of ECMA-262 with the flag `u`.
 */
export const MERCHANT_NAME_PATTERN =
  "^[^\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]+$";

const NAME = new RegExp(MERCHANT_NAME_PATTERN, "u");

const utf8 = new TextEncoder();

/**
 * Whether the attestor program takes a text as a merchant's name: 1 to 32 bytes of UTF-8 without control characters.
 */
export const isMerchantName = (text: string): boolean =>
  NAME.test(text) && text.isWellFormed() && utf8.encode(text).length <= MAX_MERCHANT_NAME_BYTES;

/**
 * Any character but white space, those that Unicode calls ignorable by default (U+200B, U+FEFF, the Hangul fillers,
 * variation selectors, tags), and the empty braille cell U+2800, which leaves a blank as well.
 */
const SHOWN = /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\u2800]/u;

/**
 * Whether a reader sees anything of a name. The program does not ask; registrations are prepared only of names that
 * show.
 */
export const showsSomething = (text: string): boolean => SHOWN.test(text);

/**
 * Counts of the escrows that name a merchant; a session counts once. They are no rating: anyone can open and refund an
 * escrow that names a merchant. Deliveries of sessions are not summed up: both parties together can attest any number
 * of them for the price of one escrow.
 */
export type MerchantStats = {
  readonly escrows: number;
  readonly pending: number;
  readonly fulfilled: number;
  readonly partiallyFulfilled: number;
  readonly refunded: number;
  /**
   * Lower median of seconds from creation to release, null before the first release. Of single payments alone: a
   * session's deliveries have no times on the ledger, only its end has.
   */
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
      e.sessionKey === null && e.attestation !== null && e.settledAt !== null
        ? [e.settledAt - e.createdAt]
        : [],
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
