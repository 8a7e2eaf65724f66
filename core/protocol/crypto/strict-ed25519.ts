import { ed25519 } from "@noble/curves/ed25519.js";
import { bytesToHex, bytesToNumberLE, hexToBytes } from "@noble/curves/utils.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { addressFromBytes } from "../../domain/address.ts";
import { RecentlyUsed } from "../../domain/recently-used.ts";
import { isSmallOrderAddress } from "./curve-point.ts";

const { Point } = ed25519;
type KeyPoint = { readonly point: ReturnType<typeof Point.fromBytes>; uses: number };

/**
 * Points of recently used public keys. A frequent key gets a table of its multiples: the
 * table takes the time of four verifications and 135 KB, and halves the time of each that follows.
 */
const keyPoints = new RecentlyUsed<string, KeyPoint>(16);
const USES_BEFORE_TABLE = 8;
const TABLE_WINDOW_BITS = 4;

/** The point of a key, undefined for one of small order. @throws RangeError for an encoding of no point. */
const keyPointOf = (publicKey: Uint8Array): KeyPoint["point"] | undefined => {
  const name = bytesToHex(publicKey);
  const known = keyPoints.get(name);
  if (known === undefined) {
    const point = Point.fromBytes(publicKey, false);
    if (point.isSmallOrder()) return undefined;
    keyPoints.set(name, { point, uses: 1 });
    return point;
  }
  known.uses += 1;
  if (known.uses === USES_BEFORE_TABLE) known.point.precompute(TABLE_WINDOW_BITS);
  return known.point;
};

/** Whether a signature (64 bytes) of a message verifies under a public key (32 bytes). Never throws. */
export type VerifyEd25519 = (
  signature: Uint8Array,
  message: Uint8Array,
  publicKey: Uint8Array,
) => boolean;

/** `verifyEd25519` in JavaScript, for runtimes that provide none. */
export const portableVerifyEd25519: VerifyEd25519 = (signature, message, publicKey) => {
  if (signature.length !== 64 || publicKey.length !== 32) return false;
  const nonceBytes = signature.subarray(0, 32);
  const s = bytesToNumberLE(signature.subarray(32));
  if (s >= Point.Fn.ORDER) return false;
  try {
    const key = keyPointOf(publicKey);
    const nonce = Point.fromBytes(nonceBytes, false);
    if (key === undefined || nonce.isSmallOrder()) return false;
    const k = Point.Fn.create(bytesToNumberLE(sha512(concatBytes(nonceBytes, publicKey, message))));
    return Point.BASE.multiplyUnsafe(s).subtract(key.multiplyUnsafe(k)).equals(nonce);
  } catch {
    return false;
  }
};

/** Which of the keys that were used lately are canonical and not of small order, by their hex digits. */
const goodKeys = new RecentlyUsed<string, boolean>(1024);

const isGoodKey = (publicKey: Uint8Array): boolean => {
  const name = bytesToHex(publicKey);
  const known = goodKeys.get(name);
  if (known !== undefined) return known;
  const isGood = isCanonicalKey(publicKey);
  goodKeys.set(name, isGood);
  return isGood;
};

/**
 * Strict verification by a runtime's own, with the rules on small order and canonical keys beside it. The runtime's
 * must compare the encoding of SB - kA with R, as BoringSSL and OpenSSL do.
 */
export const strictVerifyBy =
  (native: VerifyEd25519): VerifyEd25519 =>
  (signature, message, publicKey) =>
    signature.length === 64 &&
    publicKey.length === 32 &&
    !isSmallOrderAddress(addressFromBytes(signature.subarray(0, 32))) &&
    isGoodKey(publicKey) &&
    native(signature, message, publicKey);

let implementation = portableVerifyEd25519;

/**
 * Whether a signature (64 bytes) verifies under a public key (32 bytes), strictly: canonical S and point
 * encodings, no small-order key or nonce, and SB = R + kA itself rather than eight times both sides
 * (RFC 8032, section 5.1.7; curve25519-dalek's `verify_strict`, which is the ledger's). noble's own
 * `verify` multiplies by eight, so it takes signatures of mixed-order keys that the ledger refuses. Uses the runtime's
 * implementation once `provideEd25519` has set it.
 * Never throws.
 */
export const verifyEd25519: VerifyEd25519 = (signature, message, publicKey) =>
  implementation(signature, message, publicKey);

/** Signatures that only a strict equation over canonical numbers tells apart, and whether they verify. */
const TRIED: ReadonlyArray<readonly [good: boolean, signature: string, key: string]> = [
  // RFC 8032, section 7.1, test 1.
  [
    true,
    "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
  ],
  // the same with S + L.
  [
    false,
    "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901554c8c7872aa064e049dbb3013fbf29380d25bf5f0595bbe24655141438e7a101b",
    "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
  ],
  // the same with one bit changed.
  [
    false,
    "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc71e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
  ],
  // a mixed-order key, which eight times both sides would accept.
  [
    false,
    "c9a3f86aae465f0e56513864510f3997561fa2c9e85ea21dc2292309f3cd60222826a722e0f7c89f45e62f1bab011b7a6bd3da9b9317a0a24ca1d9130f2a780d",
    "6a84d583f06569edb3f5ed77df65544b27d6948b4f0b2cb76f33dd8413b20719",
  ],
  // the same key with a challenge that cancels its torsion.
  [
    true,
    "d4b4f5784868c3020403246717ec169ff79e26608ea126a1ab69ee77d1b16712df5028328073139b0a65e52dea34eb1e10516b444529077b60c93b9dc5a82006",
    "6a84d583f06569edb3f5ed77df65544b27d6948b4f0b2cb76f33dd8413b20719",
  ],
];

/**
 * Sets the runtime's verification for the whole process, inside `strictVerifyBy`: it takes a tenth of the portable
 * one's time. @throws Error for a function that decides otherwise, which is then not used.
 */
export const provideEd25519 = (native: VerifyEd25519): void => {
  const strict = strictVerifyBy(native);
  for (const [isGood, signature, key] of TRIED)
    if (strict(hexToBytes(signature), new Uint8Array(), hexToBytes(key)) !== isGood)
      throw new Error("not Ed25519 as the ledger verifies it: another answer");
  implementation = strict;
};

/**
 * Whether a ledger can accept any signature under a public key (32 bytes): it is a point, and not of small order. An
 * encoding that is not canonical is read as curve25519-dalek reads it. Never throws.
 */
export const canVerifyUnder = (publicKey: Uint8Array): boolean => {
  try {
    return !Point.fromBytes(publicKey, true).isSmallOrder();
  } catch {
    return false;
  }
};

/**
 * Whether a public key (32 bytes) is the one canonical encoding of its point, and not of small order: under such a key
 * all verifiers
 * agree. Session keys are refused otherwise. Never throws.
 */
export const isCanonicalKey = (publicKey: Uint8Array): boolean => {
  try {
    return !Point.fromBytes(publicKey, false).isSmallOrder();
  } catch {
    return false;
  }
};
