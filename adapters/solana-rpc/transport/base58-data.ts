import { decodeBase58 } from "../../../core/domain/encoding/base58.ts";

/** As long as a whole transaction; a program that calls another can pass more, which is of no interest here. */
const MAX_BYTES = 1232;

/**
 * The bytes of a canonical base58 text of unknown length, "long" when they are more than 1232, undefined for
 * any other text. A text fits two or three lengths, so few are tried.
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
