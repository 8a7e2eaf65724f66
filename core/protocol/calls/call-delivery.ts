import type { Json } from "../../domain/encoding/canonical-json.ts";
import { proofHash } from "../../domain/evidence/proof-template.ts";
import { type Hash32, hash32FromBytes } from "../../domain/hash32.ts";
import { sha256 } from "../../domain/sha256.ts";
import { formatUnixTime, type UnixSeconds } from "../../domain/unix-time.ts";
import { fieldsOf, fieldWriter } from "../accounts/byte-fields.ts";

/** What a seller delivered for one call of a session, as the leaf of its deliveries holds it. */
export type CallDelivery = {
  /** That of the order. */
  readonly taskHash: Hash32;
  /** Of the payload that `callPayload` makes, or of another one that the seller shows. */
  readonly proofHash: Hash32;
  /** Base units, at most the order's limit. */
  readonly price: bigint;
  /** Base units for this call and all before it, u64. */
  readonly totalAfter: bigint;
  readonly deliveredAt: UnixSeconds;
};

/** Every leaf of the deliveries has exactly this many bytes. */
export const DELIVERY_LEAF_LENGTH = 88;

/**
 * The 88 bytes of a delivery's leaf: `task_hash || proof_hash || price u64 || total after u64 || delivered_at i64`. See
 * docs/protocol.md, "Calls of a session".
 */
export const deliveryLeaf = (delivery: CallDelivery): Uint8Array =>
  fieldWriter(DELIVERY_LEAF_LENGTH)
    .hash(delivery.taskHash)
    .hash(delivery.proofHash)
    .u64(delivery.price)
    .u64(delivery.totalAfter)
    .i64(delivery.deliveredAt)
    .done();

/** The delivery in a leaf. @throws RangeError unless it has 88 bytes. */
export const readDeliveryLeaf = (leaf: Uint8Array): CallDelivery => {
  if (leaf.length !== DELIVERY_LEAF_LENGTH)
    throw new RangeError(`a delivery has ${DELIVERY_LEAF_LENGTH} bytes, not ${leaf.length}`);
  const fields = fieldsOf(leaf);
  return {
    taskHash: fields.hash(0),
    proofHash: fields.hash(32),
    price: fields.u64(64),
    totalAfter: fields.u64(72),
    deliveredAt: fields.i64(80),
  };
};

/** What both sides saw of an answer. */
export type AnsweredCall = {
  readonly taskHash: Hash32;
  /** The genesis hash of the ledger, base58. */
  readonly network: string;
  /** Without a fragment. */
  readonly url: string;
  readonly status: number;
  /** The answer's body as it was sent, before any content coding is undone, or the SHA-256 of it. */
  readonly body: Uint8Array | Hash32;
  readonly deliveredAt: UnixSeconds;
};

/**
 * The payload of a call, in the form of the template `api-delivered-v1`. Both sides make it by themselves from the
 * answer, so that it needs no place in a message.
 */
export const callPayload = (call: AnsweredCall): { readonly [name: string]: Json } => ({
  proof_template_id: "api-delivered-v1",
  task_hash: call.taskHash,
  network: call.network,
  request_url: call.url,
  status_code: call.status,
  content_sha256: typeof call.body === "string" ? call.body : hash32FromBytes(sha256(call.body)),
  delivered_at: formatUnixTime(call.deliveredAt),
});

/** The proof hash of a call's payload. */
export const callProofHash = (call: AnsweredCall): Hash32 => proofHash(callPayload(call));
