import { decodeBase64, encodeBase64 } from "../domain/encoding/base64.ts";
import { HASH_LENGTH } from "./tree/tree-hash.ts";

/** The number of a decimal text without leading zeros; undefined for any other text and above 2^53 - 1. */
export const parseWhole = (text: string): number | undefined => {
  if (!/^(?:0|[1-9][0-9]{0,15})$/.test(text)) return undefined;
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : undefined;
};

/** A hash as base64, 44 characters. */
export const printHash = (hash: Uint8Array): string => encodeBase64(hash);

/** The 32 bytes of a hash in canonical base64; undefined for any other text. */
export const parseHash = (text: string): Uint8Array | undefined => {
  const bytes = decodeBase64(text);
  return bytes?.length === HASH_LENGTH ? bytes : undefined;
};

/** The most hashes that a proof may have (C2SP tlog-witness, "add-checkpoint"). */
export const MAX_PROOF_HASHES = 63;

/** The hashes of a proof's lines, each in base64; undefined if one is not, and for more than 63. */
export const parseHashes = (
  lines: ReadonlyArray<string>,
): ReadonlyArray<Uint8Array> | undefined => {
  if (lines.length > MAX_PROOF_HASHES) return undefined;
  const hashes = lines.map(parseHash);
  return hashes.every((hash) => hash !== undefined) ? hashes : undefined;
};
