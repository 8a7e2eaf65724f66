import { decodeBase64, encodeBase64 } from "../../domain/encoding/base64.ts";
import type { Hash32 } from "../../domain/hash32.ts";
import type { UnixSeconds } from "../../domain/unix-time.ts";
import { fieldsOf, fieldWriter } from "../accounts/byte-fields.ts";
import { attestationMessage } from "../instructions/attestation.ts";
import {
  type CallDelivery,
  DELIVERY_LEAF_LENGTH,
  deliveryLeaf,
  readDeliveryLeaf,
} from "./call-delivery.ts";
import type { SessionTerms } from "./session-terms.ts";

/** What an attestor signed of a session: the deliveries so far. The escrow's terms are not repeated. */
export type CallAttestation = {
  /** The root over the deliveries. */
  readonly deliveries: Hash32;
  /** Base units for all of them. */
  readonly total: bigint;
  readonly timestamp: UnixSeconds;
  /** How many there are. */
  readonly count: number;
  readonly isFinal: boolean;
  /** The attestor's, 64 bytes. */
  readonly signature: Uint8Array;
};

/** What a seller gives back for a call: its leaf, and the attestation of it and all before it. */
export type CallReceipt = {
  readonly delivery: CallDelivery;
  readonly attestation: CallAttestation;
};

/** The HTTP response header that carries a receipt. */
export const RECEIPT_HEADER = "settlement-receipt";

/** A receipt's bytes in that header, before base64. */
export const CALL_RECEIPT_LENGTH = 216;

const TAG = new TextEncoder().encode("sereceip");
const ATTESTATION_AT = 8 + DELIVERY_LEAF_LENGTH;

/**
 * The 216 bytes of a receipt in its header: `"sereceip" || leaf 88 || deliveries root || total u64 || timestamp i64 ||
 * count u32 || final u8 || 0 0 0 || signature 64`. See docs/protocol.md, "Calls of a session".
 */
export const callReceiptBytes = ({ delivery, attestation }: CallReceipt): Uint8Array =>
  fieldWriter(CALL_RECEIPT_LENGTH)
    .bytes(TAG)
    .bytes(deliveryLeaf(delivery))
    .hash(attestation.deliveries)
    .u64(attestation.total)
    .i64(attestation.timestamp)
    .u32(attestation.count)
    .u8(attestation.isFinal ? 1 : 0)
    .skip(3)
    .bytes(attestation.signature)
    .done();

/** The receipt in bytes; undefined for bytes that `callReceiptBytes` never gives. */
export const readCallReceipt = (bytes: Uint8Array): CallReceipt | undefined => {
  if (bytes.length !== CALL_RECEIPT_LENGTH) return undefined;
  const fields = fieldsOf(bytes);
  const final = fields.u8(ATTESTATION_AT + 52);
  if (!fields.isAt(0, TAG) || final > 1 || !fields.isZero(ATTESTATION_AT + 53, 3)) return undefined;
  return {
    delivery: readDeliveryLeaf(fields.bytes(8, DELIVERY_LEAF_LENGTH)),
    attestation: {
      deliveries: fields.hash(ATTESTATION_AT),
      total: fields.u64(ATTESTATION_AT + 32),
      timestamp: fields.i64(ATTESTATION_AT + 40),
      count: fields.u32(ATTESTATION_AT + 48),
      isFinal: final === 1,
      signature: fields.bytes(ATTESTATION_AT + 56, 64),
    },
  };
};

/** The value of `RECEIPT_HEADER`: the bytes in base64, 288 characters. */
export const receiptHeader = (receipt: CallReceipt): string =>
  encodeBase64(callReceiptBytes(receipt));

/** The receipt in a header's value; undefined for any other text. */
export const parseReceiptHeader = (value: string): CallReceipt | undefined => {
  const bytes = decodeBase64(value);
  return bytes && readCallReceipt(bytes);
};

/** What the attestor signed for a session's deliveries. */
export const attestedCallsMessage = (
  { domain, terms }: SessionTerms,
  attestation: Omit<CallAttestation, "signature">,
): Uint8Array =>
  attestationMessage({
    domain,
    terms,
    proofHash: attestation.deliveries,
    total: attestation.total,
    timestamp: attestation.timestamp,
    deliveries: attestation.count,
    isFinal: attestation.isFinal,
  });
