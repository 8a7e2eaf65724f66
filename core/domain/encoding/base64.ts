import { base64, base64urlnopad } from "@scure/base";

/** Base64 with padding (RFC 4648, section 4). */
export const encodeBase64 = (bytes: Uint8Array): string => base64.encode(bytes);

/** Base64url without padding (RFC 4648, section 5; RFC 7515, section 2). */
export const encodeBase64Url = (bytes: Uint8Array): string => base64urlnopad.encode(bytes);

/** The bytes of a canonical base64url text without padding, undefined for any other text. */
export const decodeBase64Url = (text: string): Uint8Array | undefined => {
  try {
    return base64urlnopad.decode(text);
  } catch {
    return undefined;
  }
};

/**
 * The bytes of a canonical padded base64 text (RFC 4648, sections 3.5 and 4): no white space, no
 * missing padding, no stray bits behind the last byte. Undefined otherwise.
 */
export const decodeBase64 = (text: string): Uint8Array | undefined => {
  try {
    return base64.decode(text);
  } catch {
    return undefined;
  }
};
