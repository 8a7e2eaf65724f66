import { Effect } from "effect";
import { MAX_U64, parseAmount } from "../../../domain/amount.ts";
import { decodeBase64 } from "../../../domain/encoding/base64.ts";
import { type Hash32, parseHash32 } from "../../../domain/hash32.ts";
import { parseUnixTime, type UnixSeconds } from "../../../domain/unix-time.ts";
import { type FieldFault, ValidationFailed } from "../../request-errors.ts";

/** The greatest u32: a message counts deliveries in four bytes. */
const MAX_U32 = 4_294_967_295;

/** The fault of a text that must be an amount. */
export const AMOUNT_FAULT = `must be a decimal integer from 1 to ${MAX_U64} without sign or leading zero`;

/** Why a number cannot count deliveries, undefined when it can. */
export const countFault = (count: number): string | undefined =>
  Number.isInteger(count) && count >= 1 && count <= MAX_U32
    ? undefined
    : `must be an integer from 1 to ${MAX_U32}`;

/** A voucher as JSON. Only the types of its members are checked. */
type VoucherRequest = {
  /** 64 hex digits: the root over the orders. */
  readonly orders: string;
  /** Base units in all. */
  readonly total_stroops: string;
  readonly count: number;
  readonly closing: boolean;
  /** Base64 of 64 bytes. */
  readonly signature: string;
};

/** A signed claim as a request has it. Only the types of its members are checked. */
export type ClaimRequest = {
  readonly proofHash: string;
  /** `YYYY-MM-DDThh:mm:ssZ` */
  readonly timestamp: string;
  /** Base units for the merchant in all, what was captured included; undefined: the whole amount. */
  readonly amount?: string | undefined;
  /** Undefined: 1. */
  readonly deliveries?: number | undefined;
  /** Base64 of 64 bytes. */
  readonly attestationSignature: string;
  /** Of a session. */
  readonly voucher?: VoucherRequest | undefined;
};

type Field = keyof ClaimRequest;
type Fault = FieldFault<Field>;

/** A signed claim, still without the names of ledger and escrow. */
type SignedClaim = {
  readonly proofHash: Hash32;
  readonly timestamp: UnixSeconds;
  /** Null: the whole amount. */
  readonly amount: bigint | null;
  readonly deliveries: number;
  /** 64 bytes. */
  readonly signature: Uint8Array;
  readonly voucher: {
    readonly orders: Hash32;
    readonly total: bigint;
    readonly count: number;
    readonly isClosing: boolean;
    /** 64 bytes. */
    readonly signature: Uint8Array;
  } | null;
};

const signatureOf = (base64: string): Uint8Array | undefined => {
  const bytes = decodeBase64(base64);
  return bytes?.length === 64 ? bytes : undefined;
};
const SIGNATURE_FAULT = "must be base64 of 64 bytes";
const HASH_FAULT = "must be 64 hex digits";

const voucherFault = (inside: string, detail: string): Fault => ({
  field: "voucher",
  inside,
  detail,
});

const parseVoucher = (
  voucher: VoucherRequest | undefined,
): { readonly value: SignedClaim["voucher"] } | { readonly faults: ReadonlyArray<Fault> } => {
  if (voucher === undefined) return { value: null };
  const orders = parseHash32(voucher.orders);
  const total = parseAmount(voucher.total_stroops);
  const signature = signatureOf(voucher.signature);
  const count = countFault(voucher.count);
  if (orders !== undefined && total !== undefined && signature !== undefined && !count)
    return {
      value: { orders, total, count: voucher.count, isClosing: voucher.closing, signature },
    };
  return {
    faults: [
      ...(orders === undefined ? [voucherFault("/orders", HASH_FAULT)] : []),
      ...(total === undefined ? [voucherFault("/total_stroops", AMOUNT_FAULT)] : []),
      ...(count === undefined ? [] : [voucherFault("/count", count)]),
      ...(signature === undefined ? [voucherFault("/signature", SIGNATURE_FAULT)] : []),
    ],
  };
};

/** The claim in a request's texts. Fails with `ValidationFailed`, which names each field that is out of range. */
export const parseClaim = (
  request: ClaimRequest,
): Effect.Effect<SignedClaim, ValidationFailed<Field>> => {
  const { deliveries = 1 } = request;
  const proofHash = parseHash32(request.proofHash);
  const timestamp = parseUnixTime(request.timestamp);
  const signature = signatureOf(request.attestationSignature);
  const amount = request.amount === undefined ? null : parseAmount(request.amount);
  const count = countFault(deliveries);
  const voucher = parseVoucher(request.voucher);
  if (
    proofHash !== undefined &&
    timestamp !== undefined &&
    signature !== undefined &&
    amount !== undefined &&
    count === undefined &&
    "value" in voucher
  )
    return Effect.succeed({
      proofHash,
      timestamp,
      signature,
      amount,
      deliveries,
      voucher: voucher.value,
    });
  const faults: ReadonlyArray<Fault> = [
    ...(proofHash === undefined ? [{ field: "proofHash", detail: HASH_FAULT } as const] : []),
    ...(timestamp === undefined
      ? [{ field: "timestamp", detail: "must be a time as YYYY-MM-DDThh:mm:ssZ" } as const]
      : []),
    ...(signature === undefined
      ? [{ field: "attestationSignature", detail: SIGNATURE_FAULT } as const]
      : []),
    ...(amount === undefined ? [{ field: "amount", detail: AMOUNT_FAULT } as const] : []),
    ...(count === undefined ? [] : [{ field: "deliveries", detail: count } as const]),
    ...("faults" in voucher ? voucher.faults : []),
  ];
  return Effect.fail(new ValidationFailed<Field>(faults));
};
