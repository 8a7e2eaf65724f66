import { verifyEd25519 } from "../../protocol/crypto/strict-ed25519.ts";
import { bytesToHex } from "@noble/hashes/utils.js";
import type { Parsed } from "../parsed.ts";
import { cosignatureMessage, timedSignatureOf } from "./cosignature.ts";
import type { NoteSignature, SignedNote } from "./signed-note.ts";
import type { VerifierKey } from "./verifier-key.ts";

/** A signature that verified. */
export type VerifiedSignature = {
  readonly key: VerifierKey;
  /** When a cosignature was made, as the witness states it, in Unix seconds; null for a plain signature. */
  readonly time: bigint | null;
};

/** What a log signs under a note's text (C2SP signed-note, "Ed25519 signatures"): its UTF-8 bytes. */
export const noteMessage = (text: string): Uint8Array => new TextEncoder().encode(text);

const verified = (
  key: VerifierKey,
  text: string,
  bytes: Uint8Array,
): VerifiedSignature | undefined => {
  if (key.use === "ed25519")
    return verifyEd25519(bytes, noteMessage(text), key.publicKey) ? { key, time: null } : undefined;
  const timed = timedSignatureOf(bytes);
  if (timed === undefined) return undefined;
  const { time, signature } = timed;
  return verifyEd25519(signature, cosignatureMessage(text, time), key.publicKey)
    ? { key, time }
    : undefined;
};

const isOf =
  ({ name, id }: NoteSignature) =>
  (key: VerifierKey): boolean =>
    key.name === name && key.id === id;

/**
 * The signatures of known keys under a note, in its order. A repeated line is verified and returned once, so that a
 * stranger who repeats it costs one verification. Signatures of unknown keys are passed over, and those of ML-DSA-44
 * keys, which nothing here verifies. A signature of a known key that fails is a fault of the whole note, and so is a
 * note that no known key signed (C2SP signed-note, "Signatures").
 */
export const verifyNote = (
  { text, signatures }: SignedNote,
  keys: ReadonlyArray<VerifierKey>,
): Parsed<ReadonlyArray<VerifiedSignature>> => {
  const found: Array<VerifiedSignature> = [];
  const seen = new Map<VerifierKey, Set<string>>();
  for (const each of signatures) {
    const key = keys.find(isOf(each));
    if (key === undefined || key.use === "ml-dsa-44") continue;
    const line = bytesToHex(each.signature);
    const ofKey = seen.get(key) ?? new Set();
    if (ofKey.has(line)) continue;
    seen.set(key, ofKey.add(line));
    const signature = verified(key, text, each.signature);
    if (signature === undefined) return { fault: `the signature of ${each.name} does not verify` };
    found.push(signature);
  }
  return found.length === 0 ? { fault: "no known key signed the note" } : { value: found };
};
