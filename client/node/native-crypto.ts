import crypto, {
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  sign,
  verify,
} from "node:crypto";
import { encodeBase64Url } from "../../core/domain/encoding/base64.ts";
import { RecentlyUsed } from "../../core/domain/recently-used.ts";
import { portableSha256, provideSha256, type Sha256 } from "../../core/domain/sha256.ts";
import { type Ed25519Key, provideEd25519Key } from "../../core/protocol/crypto/ed25519-key.ts";
import { provideEd25519, type VerifyEd25519 } from "../../core/protocol/crypto/strict-ed25519.ts";

/** The newest keys, since making one from its bytes takes a tenth of a verification. */
const keys = new RecentlyUsed<string, KeyObject>(1024);

const keyOf = (publicKey: Uint8Array): KeyObject => {
  const x = encodeBase64Url(publicKey);
  const known = keys.get(x);
  if (known !== undefined) return known;
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  keys.set(x, key);
  return key;
};

/** Ed25519 by the runtime (BoringSSL in Bun, OpenSSL in Node), for `provideEd25519`. Never throws. */
export const nativeEd25519: VerifyEd25519 = (signature, message, publicKey) => {
  try {
    return verify(null, message, keyOf(publicKey), signature);
  } catch {
    return false;
  }
};

/** PKCS #8 of an Ed25519 key up to its 32 bytes (RFC 8410, section 7). */
const PKCS8_HEADER = Buffer.from("302e020100300506032b657004220420", "hex");

/** The runtime's key pair of a seed, for `provideEd25519Key`. */
export const nativeEd25519Key = (seed: Uint8Array): Ed25519Key => {
  const der = Buffer.concat([PKCS8_HEADER, seed]);
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  // The last 32 bytes of the SubjectPublicKeyInfo (RFC 8410, section 4).
  const spki = createPublicKey(key).export({ format: "der", type: "spki" });
  return {
    publicKey: new Uint8Array(spki.subarray(-32)),
    sign: (message) => new Uint8Array(sign(null, message, key)),
  };
};

/** Bun's own, which takes half the time of its `node:crypto`. */
type BunSha256 = {
  readonly SHA256: { readonly hash: (bytes: Uint8Array, into: Uint8Array) => unknown };
};
const { Bun } = globalThis as { readonly Bun?: BunSha256 };

/** The runtime's SHA-256, for `provideSha256`. Node has it in one call since 20.12. */
export const nativeSha256 = (bun: BunSha256 | null = Bun ?? null): Sha256 => {
  if (bun !== null)
    return (bytes, into = new Uint8Array(32)) => {
      bun.SHA256.hash(bytes, into);
      return into;
    };
  const { hash } = crypto as { readonly hash?: typeof crypto.hash };
  if (hash === undefined) return portableSha256;
  return (bytes, into = new Uint8Array(32)) => {
    into.set(hash("sha256", bytes, "buffer"));
    return into;
  };
};

let isTried = false;

/**
 * Has the whole process hash, sign and verify by its runtime, where that decides as the ledger does: in a tenth to a
 * thirtieth of the time. Tried once.
 */
export const useNativeCrypto = (): void => {
  if (isTried) return;
  isTried = true;
  for (const provide of [
    () => provideSha256(nativeSha256()),
    () => provideEd25519(nativeEd25519),
    () => provideEd25519Key(nativeEd25519Key),
  ])
    try {
      provide();
    } catch {
      // The portable one stays.
    }
};
