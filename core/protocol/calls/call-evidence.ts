import { concatBytes } from "@noble/hashes/utils.js";
import { encodeBase64 } from "../../domain/encoding/base64.ts";
import { canonicalJsonBytes, type Json } from "../../domain/encoding/canonical-json.ts";
import { HASH_LENGTH } from "../../log/tree/tree-hash.ts";
import { MAX_PACKET_BYTES } from "../evidence/evidence-packet.ts";
import {
  bytesIn,
  fail,
  formOf,
  objectIn,
  readStrictDocument,
  textIn,
} from "../evidence/strict-document.ts";
import {
  type CallDelivery,
  DELIVERY_LEAF_LENGTH,
  deliveryLeaf,
  readDeliveryLeaf,
} from "./call-delivery.ts";
import {
  CALL_ATTESTATION_LENGTH,
  type CallAttestation,
  callAttestationBytes,
  readCallAttestation,
} from "./call-receipt.ts";
import {
  CALL_VOUCHER_LENGTH,
  type CallVoucher,
  callVoucherBytes,
  readCallVoucher,
} from "./call-voucher.ts";

/** The version of the document. */
export const CALL_EVIDENCE_VERSION = "settlement-evidence-call-v1";

/** A leaf of the deliveries, and the hashes that prove it, its sibling first. */
export type ProvedDelivery = {
  readonly delivery: CallDelivery;
  readonly path: ReadonlyArray<Uint8Array>;
};

/** The evidence for one call of a session, which either side makes alone. */
export type CallEvidence = {
  /** The evidence packet of the session's escrow, as a JSON value. */
  readonly packet: Json;
  /** The voucher of this very call. Its nonce may be zero where the order is not shown. */
  readonly voucher: CallVoucher;
  /** What was ordered, in words; null where only its hash is shown. */
  readonly intent: string | null;
  /** The hashes that prove the order in the voucher's tree. */
  readonly orderPath: ReadonlyArray<Uint8Array>;
  /** The call's leaf, in the tree that the escrow's account or `attestation` names. */
  readonly delivered: ProvedDelivery;
  /** The leaf before it; null for the first call. */
  readonly before: ProvedDelivery | null;
  /** The attestation of this call or a later one, which stands in for the account; null where that has the call. */
  readonly attestation: CallAttestation | null;
  /** What was delivered, as a JSON object; null where only its hash is shown. */
  readonly payload: { readonly [name: string]: Json } | null;
};

const pathText = (path: ReadonlyArray<Uint8Array>): string => encodeBase64(concatBytes(...path));

const provedText = ({ delivery, path }: ProvedDelivery): Json => ({
  leaf_base64: encodeBase64(deliveryLeaf(delivery)),
  path_base64: pathText(path),
});

/** The document of a call's evidence, as RFC 8785 writes it. See docs/verify-evidence.md, "Evidence of a call". */
export const callEvidenceText = (evidence: CallEvidence): string =>
  new TextDecoder().decode(
    canonicalJsonBytes({
      version: CALL_EVIDENCE_VERSION,
      packet: evidence.packet,
      voucher_base64: encodeBase64(callVoucherBytes(evidence.voucher)),
      intent: evidence.intent,
      order_path_base64: pathText(evidence.orderPath),
      delivered: provedText(evidence.delivered),
      before: evidence.before === null ? null : provedText(evidence.before),
      attestation_base64:
        evidence.attestation === null
          ? null
          : encodeBase64(callAttestationBytes(evidence.attestation)),
      payload: evidence.payload,
    }),
  );

const MEMBERS = [
  "version",
  "packet",
  "voucher_base64",
  "intent",
  "order_path_base64",
  "delivered",
  "before",
  "attestation_base64",
  "payload",
];
/** A packet, and beside it what a call adds, of which the payload is the largest. */
const MAX_CALL_EVIDENCE_BYTES = 2 * MAX_PACKET_BYTES;

const pathIn = (value: Json | undefined, what: string): ReadonlyArray<Uint8Array> => {
  const bytes = bytesIn(value, what);
  if (bytes.length % HASH_LENGTH !== 0) fail(`${what} is no row of hashes`);
  return Array.from({ length: bytes.length / HASH_LENGTH }, (_, i) =>
    bytes.slice(i * HASH_LENGTH, (i + 1) * HASH_LENGTH),
  );
};

const provedIn = (value: Json | undefined, what: string): ProvedDelivery => {
  const proved = objectIn(value, what, ["leaf_base64", "path_base64"]);
  const leaf = bytesIn(proved["leaf_base64"], `${what}.leaf_base64`, DELIVERY_LEAF_LENGTH);
  return {
    delivery: readDeliveryLeaf(leaf),
    path: pathIn(proved["path_base64"], `${what}.path_base64`),
  };
};

const readEvidence = (document: Json): CallEvidence => {
  const whole = objectIn(document, "the evidence", MEMBERS);
  if (whole["version"] !== CALL_EVIDENCE_VERSION) fail(`version is not ${CALL_EVIDENCE_VERSION}`);
  const { packet, intent, before, payload, attestation_base64: attestation } = whole;
  return {
    packet: objectIn(packet, "packet"),
    voucher:
      readCallVoucher(bytesIn(whole["voucher_base64"], "voucher_base64", CALL_VOUCHER_LENGTH)) ??
      fail("voucher_base64 is no voucher"),
    intent: intent === null ? null : textIn(intent, "intent"),
    orderPath: pathIn(whole["order_path_base64"], "order_path_base64"),
    delivered: provedIn(whole["delivered"], "delivered"),
    before: before === null ? null : provedIn(before, "before"),
    attestation:
      attestation === null
        ? null
        : (readCallAttestation(
            bytesIn(attestation, "attestation_base64", CALL_ATTESTATION_LENGTH),
          ) ?? fail("attestation_base64 is no attestation")),
    payload: payload === null ? null : objectIn(payload, "payload"),
  };
};

/** The evidence of a call out of its JSON text or bytes, or what is wrong with its form. Strict, so that all verifiers
 * read the same. See docs/verify-evidence.md, "Evidence of a call". */
export const parseCallEvidence = (
  document: string | Uint8Array,
): { readonly value: CallEvidence } | { readonly fault: string } =>
  formOf(() => readEvidence(readStrictDocument(document, "the evidence", MAX_CALL_EVIDENCE_BYTES)));

const CALL_VERSIONED = /^settlement-evidence-call-v[1-9][0-9]*$/;

/** The packet in a document that says it is a call's evidence, as JSON text; null for any other document. */
export const packetOfCall = (document: string | Uint8Array): string | null => {
  const read = formOf(() => {
    const whole = objectIn(
      readStrictDocument(document, "the evidence", MAX_CALL_EVIDENCE_BYTES),
      "the evidence",
    );
    return CALL_VERSIONED.test(textIn(whole["version"], "version"))
      ? JSON.stringify(whole["packet"] ?? null)
      : null;
  });
  return "value" in read ? read.value : null;
};
