import { createPublicKey, type KeyObject, verify } from "node:crypto";
import { encodeBase64Url } from "../../core/domain/encoding/base64.ts";
import { RecentlyUsed } from "../../core/domain/recently-used.ts";
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

let isTried = false;

/** Has the whole process verify by the runtime, where that decides as the ledger does. Tried once. */
export const verifyNatively = (): void => {
  if (isTried) return;
  isTried = true;
  try {
    provideEd25519(nativeEd25519);
  } catch {
    // The portable verification stays.
  }
};
