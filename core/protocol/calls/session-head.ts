import { concatBytes } from "@noble/hashes/utils.js";
import { TreeEdge } from "../../log/tree/tree-edge.ts";
import { HASH_LENGTH } from "../../log/tree/tree-hash.ts";
import type { CallOrder } from "./call-order.ts";
import {
  CALL_RECEIPT_LENGTH,
  type CallReceipt,
  callReceiptBytes,
  readCallReceipt,
} from "./call-receipt.ts";
import {
  CALL_VOUCHER_LENGTH,
  type CallVoucher,
  callVoucherBytes,
  readCallVoucher,
} from "./call-voucher.ts";
import { isVoucherSigned, receiptFault } from "./judge-call.ts";
import { SessionTally } from "./session-tally.ts";
import type { SessionTerms } from "./session-terms.ts";

/** One call of a session, as both sides keep it: what was ordered, and what was delivered. */
export type CallRecord = { readonly voucher: CallVoucher; readonly receipt: CallReceipt };

/** The newest record of a session and where the session stood before it: all that a side needs to go on. */
export type SessionHead = CallRecord & { readonly before: SessionTally };

/** The HTTP header, of requests and of answers, that carries the newest record to a side that is behind. */
export const HEAD_HEADER = "settlement-head";

/** What a record's call ordered. */
export const orderOf = ({ voucher, receipt }: CallRecord): CallOrder => ({
  taskHash: receipt.delivery.taskHash,
  limit: voucher.limit,
});

const tallies = new WeakMap<SessionHead, SessionTally>();

/** Where a session stands after its newest record. Made once for each, since every step of a call asks. */
export const tallyOf = (head: SessionHead): SessionTally => {
  const known = tallies.get(head);
  if (known !== undefined) return known;
  const tally = head.before.after(orderOf(head), head.receipt.delivery);
  tallies.set(head, tally);
  return tally;
};

/**
 * The bytes of a session's newest record: those of the voucher (176) and of the receipt (216), then, of the orders and
 * of the deliveries before it, the roots of the perfect subtrees, largest first, 32 bytes each. There are as many of
 * each as the count before it has ones in binary. See docs/protocol.md, "Calls of a session".
 */
export const sessionHeadBytes = ({ voucher, receipt, before }: SessionHead): Uint8Array => {
  const { orders, deliveries } = before.edges;
  return concatBytes(
    callVoucherBytes(voucher),
    callReceiptBytes(receipt),
    ...orders,
    ...deliveries,
  );
};

const hashesIn = (bytes: Uint8Array): ReadonlyArray<Uint8Array> =>
  Array.from({ length: bytes.length / HASH_LENGTH }, (_, i) =>
    bytes.slice(i * HASH_LENGTH, (i + 1) * HASH_LENGTH),
  );

/** The tally before a record, by the hashes behind it; undefined unless they are as many as they must be. */
const tallyBefore = (
  { voucher, receipt: { delivery } }: CallRecord,
  hashes: Uint8Array,
): SessionTally | undefined => {
  const half = hashes.length / 2;
  if (half % HASH_LENGTH !== 0 || voucher.count === 0) return undefined;
  try {
    return new SessionTally(
      delivery.totalAfter - delivery.price,
      new TreeEdge(voucher.count - 1, hashesIn(hashes.subarray(0, half))),
      new TreeEdge(voucher.count - 1, hashesIn(hashes.subarray(half))),
    );
  } catch {
    return undefined;
  }
};

/** The newest record in bytes; undefined for what `sessionHeadBytes` never gives. Nothing of it is verified. */
export const parseSessionHead = (bytes: Uint8Array): SessionHead | undefined => {
  const leavesAt = CALL_VOUCHER_LENGTH + CALL_RECEIPT_LENGTH;
  const voucher = readCallVoucher(bytes.subarray(0, CALL_VOUCHER_LENGTH));
  const receipt = readCallReceipt(bytes.subarray(CALL_VOUCHER_LENGTH, leavesAt));
  if (voucher === undefined || receipt === undefined) return undefined;
  const before = tallyBefore({ voucher, receipt }, bytes.subarray(leavesAt));
  return before && { voucher, receipt, before };
};

/**
 * The newest record in bytes that the other side sent; undefined unless both signatures verify under the session's keys
 * and everything in it agrees. The edges are proved too: they fold, with the record's own leaves, to the signed roots.
 * Never throws.
 */
export const readSessionHead = (
  session: SessionTerms,
  bytes: Uint8Array,
): SessionHead | undefined => {
  const head = parseSessionHead(bytes);
  if (head === undefined) return undefined;
  const { voucher, receipt, before } = head;
  const order = orderOf(head);
  const isOrdered =
    voucher.escrow === session.escrow &&
    !voucher.isClosing &&
    voucher.total === before.total + voucher.limit &&
    voucher.total <= session.amount &&
    voucher.orders === before.ordersWith(order) &&
    isVoucherSigned(session, voucher);
  return isOrdered &&
    receiptFault(session, before, order, receipt, receipt.delivery.proofHash) === undefined
    ? head
    : undefined;
};
