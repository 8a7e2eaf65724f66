import type { SigningKey } from "../../../../ports/log/log-signer.ts";
import { type Hash32, hash32FromBytes, hash32ToBytes } from "../../../domain/hash32.ts";
import { parseSignedNote } from "../../../log/notes/signed-note.ts";
import { verifierKey } from "../../../log/notes/verifier-key.ts";
import { type LogStanding, signingKeysOf } from "../log-standing.ts";

/** Which keys sign a log and which did, as its standing says. */
export type KeyRotation = Pick<LogStanding, "publicKey" | "nextKey" | "retiredKeys">;

/** The rotation of a standing, without what changes while its keys stay. */
export const rotationIn = ({ publicKey, nextKey, retiredKeys }: KeyRotation): KeyRotation => ({
  publicKey,
  nextKey,
  retiredKeys,
});

/** How far the keys of a log have been rotated: it only grows. */
const stepsOf = ({ nextKey, retiredKeys }: KeyRotation): number =>
  2 * retiredKeys.length + (nextKey === null ? 0 : 1);

/** The one of two that is further along, the first where neither is; null where both are. */
export const furtherAlong = (a: KeyRotation | null, b: KeyRotation | null): KeyRotation | null => {
  if (a === null || b === null) return a ?? b;
  return stepsOf(b) > stepsOf(a) ? b : a;
};

/** The public keys of keys. */
export const keysIn = (keys: ReadonlyArray<SigningKey>): ReadonlyArray<Hash32> =>
  keys.map(({ publicKey }) => hash32FromBytes(publicKey));

/** Whether two lists have the same keys in the same order. */
export const isSameKeys = (a: ReadonlyArray<Hash32>, b: ReadonlyArray<Hash32>): boolean =>
  a.join() === b.join();

/** Whether two rotations are one. */
export const isSameRotation = (a: KeyRotation, b: KeyRotation): boolean =>
  isSameKeys(signingKeysOf(a), signingKeysOf(b)) && isSameKeys(a.retiredKeys, b.retiredKeys);

/** Whether a note that this log has published has a line of a key. Nothing is verified. */
export const isSignedBy = (note: string, origin: string, key: Hash32): boolean => {
  const parsed = parseSignedNote(note);
  const { id } = verifierKey(origin, "ed25519", hash32ToBytes(key));
  return (
    "value" in parsed &&
    parsed.value.signatures.some((line) => line.name === origin && line.id === id)
  );
};

/**
 * The rotation after what a process's own keys, one or two, do to it. A second key that was never retired begins one.
 * The old key is dropped once the process has the new one alone, and `isPublished` says that the published checkpoint
 * has its signature: so a verifier who believes the new key alone never finds a checkpoint without it.
 */
export const rotatedBy = (
  known: KeyRotation | null,
  own: readonly [Hash32, ...ReadonlyArray<Hash32>],
  isPublished: (key: Hash32) => boolean,
): KeyRotation => {
  const [first, second = null] = own;
  if (known === null) return { publicKey: first, nextKey: second, retiredKeys: [] };
  const { publicKey, nextKey, retiredKeys } = known;
  if (nextKey === null) {
    const begins = first === publicKey && second !== null && !retiredKeys.includes(second);
    return begins ? { publicKey, nextKey: second, retiredKeys } : known;
  }
  return first === nextKey && second !== publicKey && isPublished(nextKey)
    ? { publicKey: nextKey, nextKey: null, retiredKeys: [...retiredKeys, publicKey] }
    : known;
};
