import type { Address } from "../../domain/address.ts";
import { decodeBase64, encodeBase64 } from "../../domain/encoding/base64.ts";
import type { Hash32 } from "../../domain/hash32.ts";
import { fieldsOf, fieldWriter } from "../accounts/byte-fields.ts";
import { type VoucherClaim, voucherMessage } from "../instructions/voucher.ts";
import { CALL_NONCE_BYTES } from "./call-order.ts";
import type { SessionTerms } from "./session-terms.ts";

/** A voucher on its way from agent to seller, with the call that it pays for. */
export type CallVoucher = {
  readonly escrow: Address;
  /** The root over the orders, this call's included. */
  readonly orders: Hash32;
  /** Base units that may be taken in all: what the calls before cost, and this call's limit. */
  readonly total: bigint;
  /** Which call it is, from 1 on; of a closing voucher, how many there were. */
  readonly count: number;
  /** Whether it ends the session instead of ordering a call. Limit and nonce are zero then. */
  readonly isClosing: boolean;
  /** The most that this call may cost, base units. */
  readonly limit: bigint;
  /** 16 bytes. */
  readonly nonce: Uint8Array;
  /** The session key's, 64 bytes. */
  readonly signature: Uint8Array;
};

/** The HTTP request header that carries a voucher. */
export const VOUCHER_HEADER = "settlement-voucher";

/** A voucher's bytes in that header, before base64. */
export const CALL_VOUCHER_LENGTH = 176;

const TAG = new TextEncoder().encode("sevouch3");

/**
 * The 176 bytes of a voucher in its header: `"sevouch3" || escrow || orders || total u64 || count u32 || closing u8 ||
 * 0 0 0 || limit u64 || nonce 16 || signature 64`. See docs/protocol.md, "Calls of a session".
 */
export const callVoucherBytes = (voucher: CallVoucher): Uint8Array =>
  fieldWriter(CALL_VOUCHER_LENGTH)
    .bytes(TAG)
    .address(voucher.escrow)
    .hash(voucher.orders)
    .u64(voucher.total)
    .u32(voucher.count)
    .u8(voucher.isClosing ? 1 : 0)
    .skip(3)
    .u64(voucher.limit)
    .bytes(voucher.nonce)
    .bytes(voucher.signature)
    .done();

/** The voucher in bytes; undefined for bytes that `callVoucherBytes` never gives. */
export const readCallVoucher = (bytes: Uint8Array): CallVoucher | undefined => {
  if (bytes.length !== CALL_VOUCHER_LENGTH) return undefined;
  const fields = fieldsOf(bytes);
  const closing = fields.u8(84);
  if (!fields.isAt(0, TAG) || closing > 1 || !fields.isZero(85, 3)) return undefined;
  if (closing === 1 && !fields.isZero(88, 8 + CALL_NONCE_BYTES)) return undefined;
  return {
    escrow: fields.address(8),
    orders: fields.hash(40),
    total: fields.u64(72),
    count: fields.u32(80),
    isClosing: closing === 1,
    limit: fields.u64(88),
    nonce: fields.bytes(96, CALL_NONCE_BYTES),
    signature: fields.bytes(112, 64),
  };
};

/** The value of `VOUCHER_HEADER`: the bytes in base64, 236 characters. */
export const voucherHeader = (voucher: CallVoucher): string =>
  encodeBase64(callVoucherBytes(voucher));

/** The voucher in a header's value; undefined for any other text. */
export const parseVoucherHeader = (value: string): CallVoucher | undefined => {
  const bytes = decodeBase64(value);
  return bytes && readCallVoucher(bytes);
};

/** What the session key signed for a voucher of this session. */
export const vouchedMessage = (
  { domain, terms }: SessionTerms,
  { orders, total, count, isClosing }: Omit<VoucherClaim, "domain" | "terms">,
): Uint8Array => voucherMessage({ domain, terms, orders, total, count, isClosing });
