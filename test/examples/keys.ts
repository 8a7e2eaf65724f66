import { createPrivateKey, createPublicKey } from "node:crypto";
import { join } from "node:path";
import type { LocalKey } from "../../adapters/local-ledger/genesis/local-keys.ts";

/** DER of a PKCS #8 Ed25519 private key up to its 32-byte seed (RFC 8410, section 7). */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");

/** A key as an example reads it: 64 hex digits, and the path of a PEM file written into `folder`. */
export const keyFor = async (folder: string, name: string, { seed }: LocalKey) => {
  const der = Buffer.concat([PKCS8_PREFIX, seed]);
  const pem = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const path = join(folder, `${name}.pem`);
  await Bun.write(path, pem.export({ format: "pem", type: "pkcs8" }));
  return { hex: Buffer.from(seed).toString("hex"), path };
};

/**
 * A public key, `x` of a JSON Web Key, as an example reads it: base64, and the path of a PEM file written into
 * `folder`.
 */
export const publicKeyFor = async (folder: string, name: string, x: string) => {
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  const path = join(folder, `${name}.pem`);
  await Bun.write(path, key.export({ format: "pem", type: "spki" }));
  return { base64: Buffer.from(x, "base64url").toString("base64"), path };
};
