import { base58 } from "@scure/base";

/** The bytes of a base58 text; undefined for any other text. */
export const base58Bytes = (text: string): Uint8Array | undefined => {
  try {
    return base58.decode(text);
  } catch {
    return undefined;
  }
};

/** The bytes of a base64 text, padded or not; undefined for any other text. */
export const base64Bytes = (text: string): Uint8Array | undefined =>
  /^[A-Za-z0-9+/=]*$/.test(text) ? new Uint8Array(Buffer.from(text, "base64")) : undefined;
