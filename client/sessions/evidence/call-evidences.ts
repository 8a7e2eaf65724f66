import type { Json } from "../../../core/domain/encoding/canonical-json.ts";
import type { Hash32 } from "../../../core/domain/hash32.ts";
import { deliveryLeaf } from "../../../core/protocol/calls/call-delivery.ts";
import {
  callEvidenceText,
  type ProvedDelivery,
} from "../../../core/protocol/calls/call-evidence.ts";
import { orderLeaf } from "../../../core/protocol/calls/call-order.ts";
import { orderOf } from "../../../core/protocol/calls/session-head.ts";
import type { HashSource } from "../../../core/log/tree/subtree.ts";
import { leafHash, nodeHash } from "../../../core/log/tree/tree-hash.ts";
import { inclusionProof } from "../../../core/log/tree/tree-proofs.ts";
import { SettlementError } from "../../settlement-error.ts";
import type { KeptCall } from "../store/session-store.ts";

/** The hashes of a tree's perfect subtrees, made once from its leaves. */
const hashesOver = (leaves: ReadonlyArray<Uint8Array>): HashSource => {
  const levels: Array<ReadonlyArray<Uint8Array>> = [leaves.map(leafHash)];
  for (let below = levels[0] ?? []; below.length > 1; below = levels.at(-1) ?? []) {
    const pairs = Array.from({ length: Math.floor(below.length / 2) }, (_, i) =>
      nodeHash(below[2 * i] ?? new Uint8Array(), below[2 * i + 1] ?? new Uint8Array()),
    );
    levels.push(pairs);
  }
  return ({ level, index }) => {
    const hash = levels[level]?.[index];
    if (hash === undefined) throw new RangeError(`no subtree ${index} at level ${level}`);
    return hash;
  };
};

/** What the account of the session's escrow says of its deliveries, as the packet shows it. */
type OnLedger = { readonly deliveries: number; readonly proofHash: Hash32 | null };

const fault = (code: string, detail: string): never => {
  throw new SettlementError(
    code,
    detail,
    "Ask the other side, which keeps the same calls, for its evidence.",
  );
};

/** What of a call is shown to a stranger. */
export type ShownCall = {
  /** The payload that was attested, by `callPayload`; null to show only its hash. */
  readonly payload: { readonly [name: string]: Json } | null;
  /** Whether the order is shown in words; otherwise only its hash. */
  readonly isOrderShown: boolean;
};

/**
 * Makes the evidence of single calls of a session, from the calls that one side kept and the packet of its escrow. A
 * call that the account's attestation covers is proved in it; a later one by the newest receipt. Each text is what
 * `verifyCall` takes. @throws SettlementError `calls_missing` unless every call from 1 on is given.
 */
export const callEvidences = (
  packet: Json,
  { deliveries, proofHash }: OnLedger,
  calls: ReadonlyArray<KeptCall>,
): ((count: number, shown: ShownCall) => string) => {
  const gap = calls.findIndex(({ voucher }, at) => voucher.count !== at + 1);
  if (gap !== -1) fault("calls_missing", `Call ${gap + 1} of the session is not kept here.`);
  const orders = hashesOver(calls.map((call) => orderLeaf(orderOf(call))));
  const delivered = hashesOver(calls.map(({ receipt }) => deliveryLeaf(receipt.delivery)));
  const proved = (count: number, size: number): ProvedDelivery => ({
    delivery: (calls[count - 1] as KeptCall).receipt.delivery,
    path: inclusionProof(count - 1, size, delivered),
  });
  return (count, { payload, isOrderShown }) => {
    const call = calls[count - 1] ?? fault("calls_missing", `Call ${count} is not kept here.`);
    const isOnLedger = proofHash !== null && deliveries >= count && deliveries <= calls.length;
    const size = isOnLedger ? deliveries : calls.length;
    const { voucher, intent } = call;
    return callEvidenceText({
      packet,
      voucher: isOrderShown ? voucher : { ...voucher, nonce: new Uint8Array(16) },
      intent: isOrderShown ? intent : null,
      orderPath: inclusionProof(count - 1, count, orders),
      delivered: proved(count, size),
      before: count === 1 ? null : proved(count - 1, size),
      attestation: isOnLedger ? null : (calls.at(-1) as KeptCall).receipt.attestation,
      payload,
    });
  };
};
