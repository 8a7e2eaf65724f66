import type { Hash32 } from "../../domain/hash32.ts";
import { fieldsOf, fieldWriter } from "../accounts/byte-fields.ts";

/** What the session key signs: how much of a session may be taken so far, and for which orders. */
export type VoucherClaim = {
  /** The ledger and its custody program, by `domainOf`. */
  readonly domain: Hash32;
  /** The digest of the escrow's bytes right after its creation, by `termsOf`. */
  readonly terms: Hash32;
  /** The RFC 6962 root over the orders so far. */
  readonly orders: Hash32;
  /** Base units that may be taken in all, u64. */
  readonly total: bigint;
  /** How many deliveries may be attested, u32. */
  readonly count: number;
  /** Whether nothing is ordered after it. */
  readonly isClosing: boolean;
};

/** The first eight bytes of every voucher. */
export const VOUCHER_TAG = new TextEncoder().encode("voucher3");

/** Every voucher's message has exactly this many bytes. */
export const VOUCHER_LENGTH = 120;

/**
 * The 120 bytes that a session key signs: `"voucher3" || domain || terms || orders || total u64 || count u32 ||
 * closing u8 ||
 * 0 0 0`, numbers little-endian. See docs/protocol.md, "Attestation".
 */
export const voucherMessage = (claim: VoucherClaim): Uint8Array =>
  fieldWriter(VOUCHER_LENGTH)
    .bytes(VOUCHER_TAG)
    .hash(claim.domain)
    .hash(claim.terms)
    .hash(claim.orders)
    .u64(claim.total)
    .u32(claim.count)
    .u8(claim.isClosing ? 1 : 0)
    .skip(3)
    .done();

/** The claim in a voucher's message; undefined for bytes that `voucherMessage` never gives. */
export const readVoucherMessage = (message: Uint8Array): VoucherClaim | undefined => {
  if (message.length !== VOUCHER_LENGTH) return undefined;
  const fields = fieldsOf(message);
  const closing = fields.u8(116);
  if (!fields.isAt(0, VOUCHER_TAG) || closing > 1 || !fields.isZero(117, 3)) return undefined;
  return {
    domain: fields.hash(8),
    terms: fields.hash(40),
    orders: fields.hash(72),
    total: fields.u64(104),
    count: fields.u32(112),
    isClosing: closing === 1,
  };
};
