import { timingSafeEqual } from "node:crypto";
import { decodeBase64 } from "../../core/domain/encoding/base64.ts";
import { ed25519PublicKey } from "./ed25519-key.ts";

/** The forms that `parseSeedText` reads; completes the sentence "it must be ...". */
export const SEED_TEXT_FORMS =
  "32 bytes as base64 (44 characters), or the JSON array of 64 numbers that solana-keygen writes";

/** The bytes of a JSON array of 64 whole numbers in [0, 255], undefined for any other text. */
const keypairBytes = (text: string): Uint8Array | undefined => {
  if (!/^\[(\s*\d{1,3}\s*,){63}\s*\d{1,3}\s*\]$/.test(text)) return undefined;
  const numbers = text.slice(1, -1).split(",").map(Number);
  return numbers.every((number) => number <= 255) ? Uint8Array.from(numbers) : undefined;
};

/**
 * The 32-byte Ed25519 seed in a text, undefined for any other text. Two forms: the seed as padded base64, or a
 * solana-keygen file, whose last 32 numbers must be the public key of the first 32. Surrounding white space is ignored.
 */
export const parseSeedText = (text: string): Uint8Array | undefined => {
  const trimmed = text.trim();
  const keypair = keypairBytes(trimmed);
  if (keypair === undefined) {
    const seed = decodeBase64(trimmed);
    return seed?.length === 32 ? seed : undefined;
  }
  const seed = keypair.slice(0, 32);
  return timingSafeEqual(ed25519PublicKey(seed), keypair.subarray(32)) ? seed : undefined;
};
