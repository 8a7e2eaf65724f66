import { ed25519 } from "@noble/curves/ed25519.js";
import { decodeBase64 } from "../../core/domain/encoding/base64.ts";

/** The forms of a key that are read, for messages. */
export const KEY_FORMS =
  "the JSON array of 64 numbers that solana-keygen writes, or 32 bytes as base64";

const SEED_BYTES = 32;
const KEYPAIR_BYTES = 64;

const numbersIn = (text: string): Uint8Array | undefined => {
  try {
    const parsed: unknown = JSON.parse(text);
    const isBytes =
      Array.isArray(parsed) &&
      parsed.length === KEYPAIR_BYTES &&
      parsed.every((each) => Number.isInteger(each) && each >= 0 && each <= 255);
    return isBytes ? Uint8Array.from(parsed as ReadonlyArray<number>) : undefined;
  } catch {
    return undefined;
  }
};

/**
 * The 32-byte Ed25519 seed in a key's text, undefined for any other text. The last 32 numbers of an array must be the public key of the
 * first 32. White space around it is ignored.
 */
export const parseKeyText = (text: string): Uint8Array | undefined => {
  const trimmed = text.trim();
  const pair = numbersIn(trimmed);
  if (pair !== undefined) {
    const seed = pair.slice(0, SEED_BYTES);
    const publicKey = ed25519.getPublicKey(seed);
    return publicKey.every((byte, i) => byte === pair[SEED_BYTES + i]) ? seed : undefined;
  }
  const bytes = decodeBase64(trimmed);
  return bytes?.length === SEED_BYTES ? bytes : undefined;
};

/** A key as the JSON array of 64 numbers that solana-keygen writes: the seed of 32 bytes, then its public key. */
export const keyText = (seed: Uint8Array): string =>
  JSON.stringify([...seed, ...ed25519.getPublicKey(seed)]);

/** Whether a text looks like a private key rather than the name of a file: such a text must not stand on a command line. */
export const looksLikeKey = (text: string): boolean =>
  /^\s*\[/.test(text) ||
  parseKeyText(text) !== undefined ||
  /^[1-9A-HJ-NP-Za-km-z]{80,90}$/.test(text) ||
  /^(0x)?[0-9a-fA-F]{64}([0-9a-fA-F]{64})?$/.test(text);
