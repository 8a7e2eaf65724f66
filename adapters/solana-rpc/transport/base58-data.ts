import { decodeBase58 } from "../../../core/domain/encoding/base58.ts";

/** The size of a whole transaction. A program can pass more to another program, but this service reads no such data. */
const MAX_BYTES = 1232;

/**
 * The bytes of a canonical base58 text of unknown length; "long" for more than 1232 bytes, undefined for any other
 * text. A text has only two or three possible lengths.
 */
export const decodeBase58OfAnyLength = (text: string): Uint8Array | "long" | undefined => {
  if (text.length > Math.ceil(MAX_BYTES * 1.3658)) return "long";
  let zeros = 0;
  while (text.charCodeAt(zeros) === 49) zeros++;
  // log(58)/log(256) is 0.73224...
  const most = zeros + Math.ceil((text.length - zeros) * 0.7323);
  for (let length = most; length >= Math.max(zeros, most - 2); length--) {
    const bytes = decodeBase58(text, length);
    if (bytes !== undefined) return bytes;
  }
  return undefined;
};
