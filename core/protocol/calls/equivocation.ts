import { encodeBase64 } from "../../domain/encoding/base64.ts";
import { canonicalJsonBytes, type Json } from "../../domain/encoding/canonical-json.ts";
import { MAX_PACKET_BYTES } from "../evidence/evidence-packet.ts";
import {
  bytesIn,
  fail,
  formOf,
  objectIn,
  readStrictDocument,
} from "../evidence/strict-document.ts";
import {
  CALL_ATTESTATION_LENGTH,
  type CallAttestation,
  callAttestationBytes,
  readCallAttestation,
} from "./call-receipt.ts";

/** The version of the document. */
export const EQUIVOCATION_VERSION = "settlement-evidence-equivocation-v1";

/** Two attestations of one session that an honest attestor never signs both, and the packet that names it. */
export type Equivocation = {
  /** The evidence packet of the session's escrow, as a JSON value. */
  readonly packet: Json;
  readonly attestations: readonly [CallAttestation, CallAttestation];
};

/**
 * What two attestations of one session contradict each other in, undefined when one attestor may have signed both: they
 * are two histories of one count, or something else follows the final one.
 */
export const contradictionOf = (
  one: CallAttestation,
  two: CallAttestation,
): "two_histories" | "after_final" | undefined => {
  const isSame =
    one.count === two.count && one.total === two.total && one.deliveries === two.deliveries;
  if (isSame) return undefined;
  if (one.count === two.count) return "two_histories";
  const [fewer, more] = one.count < two.count ? [one, two] : [two, one];
  if (more.total < fewer.total) return "two_histories";
  return fewer.isFinal ? "after_final" : undefined;
};

/** The document of an equivocation, as RFC 8785 writes it. See docs/verify-evidence.md, "Evidence of a call". */
export const equivocationText = ({ packet, attestations: [one, two] }: Equivocation): string =>
  new TextDecoder().decode(
    canonicalJsonBytes({
      version: EQUIVOCATION_VERSION,
      packet,
      first_base64: encodeBase64(callAttestationBytes(one)),
      second_base64: encodeBase64(callAttestationBytes(two)),
    }),
  );

const attestationIn = (value: Json | undefined, what: string): CallAttestation =>
  readCallAttestation(bytesIn(value, what, CALL_ATTESTATION_LENGTH)) ??
  fail(`${what} is no attestation`);

/** An equivocation out of its JSON text or bytes, or what is wrong with its form. Strict. */
export const parseEquivocation = (
  document: string | Uint8Array,
): { readonly value: Equivocation } | { readonly fault: string } =>
  formOf(() => {
    const whole = objectIn(
      readStrictDocument(document, "the document", 2 * MAX_PACKET_BYTES),
      "the document",
      ["version", "packet", "first_base64", "second_base64"],
    );
    if (whole["version"] !== EQUIVOCATION_VERSION) fail(`version is not ${EQUIVOCATION_VERSION}`);
    return {
      packet: objectIn(whole["packet"], "packet"),
      attestations: [
        attestationIn(whole["first_base64"], "first_base64"),
        attestationIn(whole["second_base64"], "second_base64"),
      ],
    };
  });
