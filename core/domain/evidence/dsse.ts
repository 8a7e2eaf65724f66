import { concatBytes } from "@noble/hashes/utils.js";

/** The payload type under which evidence packets are signed. */
export const EVIDENCE_PAYLOAD_TYPE = "application/vnd.settlement-evidence.v1+json";

/**
 * DSSE pre-authentication encoding (DSSE v1 protocol, "PAE"): `DSSEv1 SP len SP type SP len SP body`, with lengths in
 * bytes as decimal text. The signature covers the type too.
 */
export const preAuthenticationEncoding = (payloadType: string, body: Uint8Array): Uint8Array => {
  const utf8 = new TextEncoder();
  const type = utf8.encode(payloadType);
  return concatBytes(
    utf8.encode(`DSSEv1 ${type.length} `),
    type,
    utf8.encode(` ${body.length} `),
    body,
  );
};
