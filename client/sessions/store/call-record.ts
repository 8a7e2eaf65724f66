import { bytesToHex, concatBytes, hexToBytes } from "@noble/hashes/utils.js";
import type { Address } from "../../../core/domain/address.ts";
import { type Hash32, hash32FromBytes, hash32ToBytes } from "../../../core/domain/hash32.ts";
import { sha256 } from "../../../core/domain/sha256.ts";
import type { UnixSeconds } from "../../../core/domain/unix-time.ts";
import type { CallDelivery } from "../../../core/protocol/calls/call-delivery.ts";
import {
  CALL_NONCE_BYTES,
  type CallOrder,
  callOrder,
} from "../../../core/protocol/calls/call-order.ts";
import type { CallVoucher } from "../../../core/protocol/calls/call-voucher.ts";
import type { SessionTally } from "../../../core/protocol/calls/session-tally.ts";
import { packedNumber, PackedReader } from "./packed-bytes.ts";
import type { KeptCall, StagedCall } from "./session-store.ts";

const SIGNATURE_BYTES = 64;
const HASH_BYTES = 32;

/** What a kept call's voucher does not share with its session and the calls before it. */
export type OrderPart = {
  readonly nonce: Uint8Array;
  /** The session key's. */
  readonly signature: Uint8Array;
  readonly limit: bigint;
  readonly intent: string;
};

/** What a kept call's receipt does not share with its session, the calls before it and its order. */
export type ReceiptPart = {
  readonly proofHash: Hash32;
  /** The attestor's. */
  readonly signature: Uint8Array;
  readonly price: bigint;
  readonly deliveredAt: UnixSeconds;
  readonly status: number;
};

/** The form that `callIntent` gives to an intent's end. */
const BODY_HASH = / sha256:([0-9a-f]{64})$/;

/** The digest of no body, which most calls have: it takes no bytes. */
const NO_BODY_HASH = bytesToHex(sha256(new Uint8Array()));

/** What stands behind an intent's text, by the two lowest bits of the number before it. */
const [WHOLE, WITH_HASH, WITHOUT_BODY] = [0, 1, 2] as const;

/** An intent, its digest in 32 bytes or none instead of 72 characters. */
const intentBytes = (intent: string): Uint8Array => {
  const hash = BODY_HASH.exec(intent)?.[1];
  const text = new TextEncoder().encode(hash === undefined ? intent : intent.slice(0, -72));
  const kind = hash === undefined ? WHOLE : hash === NO_BODY_HASH ? WITHOUT_BODY : WITH_HASH;
  const digest = kind === WITH_HASH ? hexToBytes(hash ?? "") : new Uint8Array();
  return concatBytes(packedNumber(text.length * 4 + kind), text, digest);
};

const readIntent = (reader: PackedReader): string => {
  const length = reader.number();
  const text = new TextDecoder("utf-8", { fatal: true }).decode(
    reader.take(Math.floor(length / 4)),
  );
  const kind = length % 4;
  if (kind === WHOLE) return text;
  if (kind > WITHOUT_BODY) throw new RangeError("an intent of no kind");
  const hash = kind === WITH_HASH ? bytesToHex(reader.take(HASH_BYTES)) : NO_BODY_HASH;
  return `${text} sha256:${hash}`;
};

/** The bytes of a call's order: `nonce 16 || signature 64 || limit || intent`. */
export const orderPartBytes = ({ nonce, signature, limit, intent }: OrderPart): Uint8Array =>
  concatBytes(nonce, signature, packedNumber(limit), intentBytes(intent));

/** The order at a reader. @throws RangeError for what `orderPartBytes` never gives. */
export const readOrderPart = (reader: PackedReader): OrderPart => ({
  nonce: reader.take(CALL_NONCE_BYTES),
  signature: reader.take(SIGNATURE_BYTES),
  limit: reader.u64(),
  intent: readIntent(reader),
});

/** The bytes of a call's receipt: `proof hash 32 || signature 64 || price || delivered at || status`. */
export const receiptPartBytes = ({
  proofHash,
  signature,
  price,
  deliveredAt,
  status,
}: ReceiptPart): Uint8Array =>
  concatBytes(
    hash32ToBytes(proofHash),
    signature,
    packedNumber(price),
    packedNumber(deliveredAt),
    packedNumber(status),
  );

/** The receipt at a reader. @throws RangeError for what `receiptPartBytes` never gives. */
export const readReceiptPart = (reader: PackedReader): ReceiptPart => ({
  proofHash: hash32FromBytes(reader.take(HASH_BYTES)),
  signature: reader.take(SIGNATURE_BYTES),
  price: reader.u64(),
  deliveredAt: BigInt.asIntN(64, reader.u64()),
  status: reader.number(),
});

/** What is kept of a voucher. */
export const orderPartOf = (
  { nonce, signature, limit }: CallVoucher,
  intent: string,
): OrderPart => ({ nonce, signature, limit, intent });

/** What is kept of a call beside its order. */
export const receiptPartOf = ({ receipt, status }: KeptCall): ReceiptPart => {
  const { proofHash, price, deliveredAt } = receipt.delivery;
  return { proofHash, signature: receipt.attestation.signature, price, deliveredAt, status };
};

/** A voucher and its order, by what is kept of it and where the session stood before. */
export const voucherAfter = (
  before: SessionTally,
  escrow: Address,
  { nonce, signature, limit, intent }: OrderPart,
): { readonly voucher: CallVoucher; readonly order: CallOrder } => {
  const order = callOrder(intent, nonce, limit);
  const voucher: CallVoucher = {
    escrow,
    orders: before.ordersWith(order),
    total: before.total + limit,
    count: before.count + 1,
    isClosing: false,
    limit,
    nonce,
    signature,
  };
  return { voucher, order };
};

const deliveryAfter = (
  { total }: SessionTally,
  { taskHash }: CallOrder,
  { proofHash, price, deliveredAt }: ReceiptPart,
): CallDelivery => ({ taskHash, proofHash, price, totalAfter: total + price, deliveredAt });

/** Where a session stands after a call, by what is kept of it. No root is made, which is what takes time. */
export const tallyAfter = (
  before: SessionTally,
  { intent, nonce, limit }: OrderPart,
  receipt: ReceiptPart,
): SessionTally => {
  const order = callOrder(intent, nonce, limit);
  return before.after(order, deliveryAfter(before, order, receipt));
};

/** A call by what is kept of it and where the session stood before, and where it stands then. */
export const callAfter = (
  before: SessionTally,
  escrow: Address,
  orderPart: OrderPart,
  receiptPart: ReceiptPart,
): { readonly call: KeptCall; readonly after: SessionTally } => {
  const { voucher, order } = voucherAfter(before, escrow, orderPart);
  const delivery = deliveryAfter(before, order, receiptPart);
  const after = before.after(order, delivery);
  const attestation = {
    deliveries: after.deliveries,
    total: after.total,
    timestamp: delivery.deliveredAt,
    count: after.count,
    isFinal: false,
    signature: receiptPart.signature,
  };
  const { intent } = orderPart;
  const { status } = receiptPart;
  return { call: { voucher, receipt: { delivery, attestation }, intent, status }, after };
};

/** A call as one record: its order, then its receipt. About 220 bytes for a GET of 60 characters. */
export const callRecordBytes = (call: KeptCall): Uint8Array =>
  concatBytes(
    orderPartBytes(orderPartOf(call.voucher, call.intent)),
    receiptPartBytes(receiptPartOf(call)),
  );

/** The place of a signature that is not made yet. */
const UNSIGNED = new Uint8Array(SIGNATURE_BYTES);

/** A delivery that is not attested yet in the same form, zeros for the signature. */
export const stagedRecordBytes = ({
  voucher,
  delivery,
  intent,
  status,
}: StagedCall): Uint8Array => {
  const { proofHash, price, deliveredAt } = delivery;
  return concatBytes(
    orderPartBytes(orderPartOf(voucher, intent)),
    receiptPartBytes({ proofHash, signature: UNSIGNED, price, deliveredAt, status }),
  );
};

/** Both parts of a call's record. @throws RangeError for what `callRecordBytes` never gives. */
export const readCallRecord = (
  bytes: Uint8Array,
): readonly [order: OrderPart, receipt: ReceiptPart] => {
  const reader = new PackedReader(bytes);
  const parts = [readOrderPart(reader), readReceiptPart(reader)] as const;
  reader.done();
  return parts;
};

const notNext = ({ count }: CallVoucher): RangeError =>
  new RangeError(`call ${count} does not follow from those before it`);

/** The order of a delivery that is not attested yet. @throws RangeError unless both follow from the calls before. */
export const requireDelivered = (
  before: SessionTally,
  { voucher, delivery, intent }: Pick<StagedCall, "voucher" | "delivery" | "intent">,
): CallOrder => {
  const order = callOrder(intent, voucher.nonce, voucher.limit);
  const follows =
    voucher.count === before.count + 1 &&
    voucher.total === before.total + voucher.limit &&
    !voucher.isClosing &&
    delivery.taskHash === order.taskHash &&
    delivery.totalAfter === before.total + delivery.price &&
    voucher.orders === before.ordersWith(order);
  if (!follows) throw notNext(voucher);
  return order;
};

/**
 * What a kept call leaves out follows from the calls before it. @throws RangeError for a call of which something does
 * not follow, before anything of it is kept.
 */
export const requireFollows = (before: SessionTally, { voucher, receipt, intent }: KeptCall) => {
  const { delivery, attestation } = receipt;
  const order = requireDelivered(before, { voucher, delivery, intent });
  const follows =
    attestation.total === delivery.totalAfter &&
    attestation.count === voucher.count &&
    attestation.timestamp === delivery.deliveredAt &&
    !attestation.isFinal &&
    attestation.deliveries === before.after(order, delivery).deliveries;
  if (!follows) throw notNext(voucher);
};
