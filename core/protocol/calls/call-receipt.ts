import { concatBytes } from "@noble/hashes/utils.js";
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

/** A signed attestation's bytes, in a receipt and in the evidence of a call. */
export const CALL_ATTESTATION_LENGTH = 120;

/**
 * The 120 bytes of a session's attestation: `deliveries root || total u64 || timestamp i64 || count u32 || final u8 || 0
 * 0 0 || signature 64`. The message that was signed follows from it and the session's terms.
 */
export const callAttestationBytes = (attestation: CallAttestation): Uint8Array =>
  fieldWriter(CALL_ATTESTATION_LENGTH)
    .hash(attestation.deliveries)
    .u64(attestation.total)
    .i64(attestation.timestamp)
    .u32(attestation.count)
    .u8(attestation.isFinal ? 1 : 0)
    .skip(3)
    .bytes(attestation.signature)
    .done();

/** The attestation in bytes; undefined for bytes that `callAttestationBytes` never gives. */
export const readCallAttestation = (bytes: Uint8Array): CallAttestation | undefined => {
  if (bytes.length !== CALL_ATTESTATION_LENGTH) return undefined;
  const fields = fieldsOf(bytes);
  const final = fields.u8(52);
  if (final > 1 || !fields.isZero(53, 3)) return undefined;
  return {
    deliveries: fields.hash(0),
    total: fields.u64(32),
    timestamp: fields.i64(40),
    count: fields.u32(48),
    isFinal: final === 1,
    signature: fields.bytes(56, 64),
  };
};

/** The HTTP response header that carries a receipt. */
export const RECEIPT_HEADER = "settlement-receipt";

/** A receipt's bytes in that header, before base64. */
export const CALL_RECEIPT_LENGTH = 216;

const TAG = new TextEncoder().encode("sereceip");
const ATTESTATION_AT = TAG.length + DELIVERY_LEAF_LENGTH;

/**
 * The 216 bytes of a receipt in its header: `"sereceip" || leaf 88 || attestation 120`. See docs/protocol.md, "Calls of
 * a session".
 */
export const callReceiptBytes = ({ delivery, attestation }: CallReceipt): Uint8Array =>
  concatBytes(TAG, deliveryLeaf(delivery), callAttestationBytes(attestation));

/** The receipt in bytes; undefined for bytes that `callReceiptBytes` never gives. */
export const readCallReceipt = (bytes: Uint8Array): CallReceipt | undefined => {
  if (bytes.length !== CALL_RECEIPT_LENGTH || !fieldsOf(bytes).isAt(0, TAG)) return undefined;
  const attestation = readCallAttestation(bytes.subarray(ATTESTATION_AT));
  return (
    attestation && {
      delivery: readDeliveryLeaf(bytes.subarray(TAG.length, ATTESTATION_AT)),
      attestation,
    }
  );
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
  { domain, terms }: Pick<SessionTerms, "domain" | "terms">,
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
