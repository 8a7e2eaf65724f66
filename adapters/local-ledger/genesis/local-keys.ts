import { createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";
import { type Address, addressFromBytes } from "../../../core/domain/address.ts";

/**
 * A key of the local ledger. Its seed is the SHA-256 of a public label, so everyone knows it. It guards nothing of
 * worth and must never hold anything on a public network.
 */
export type LocalKey = {
  readonly address: Address;
  /** 32 bytes, SHA-256 of `settlement-evidence/local/<label>`. */
  readonly seed: Uint8Array;
  /** The 64-byte Ed25519 signature of a message. */
  readonly sign: (message: Uint8Array) => Uint8Array;
};

/** DER of a PKCS #8 Ed25519 private key up to its 32-byte seed (RFC 8410, section 7). */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");

const publicKeyOf = (key: KeyObject): Address => {
  const { x } = createPublicKey(key).export({ format: "jwk" });
  return addressFromBytes(new Uint8Array(Buffer.from(x ?? "", "base64url")));
};

const made = new Map<string, LocalKey>();

/** The local key of a label. The same label gives the same key everywhere. */
export const localKey = (label: string): LocalKey => {
  const cached = made.get(label);
  if (cached !== undefined) return cached;
  const seed = new Uint8Array(
    Bun.SHA256.hash(`settlement-evidence/local/${label}`).buffer as ArrayBuffer,
  );
  const key = createPrivateKey({
    key: Buffer.concat([PKCS8_PREFIX, seed]),
    format: "der",
    type: "pkcs8",
  });
  const local: LocalKey = {
    address: publicKeyOf(key),
    seed,
    sign: (message) => new Uint8Array(sign(null, message, key)),
  };
  made.set(label, local);
  return local;
};

/** The upgrade authority of both programs, admin of the registry, and mint authority of the mock USDC. */
export const LOCAL_AUTHORITY = localKey("upgrade-authority");

/** Pays out SOL on request, and the fees of the local ledger's own transactions. */
export const LOCAL_FAUCET = localKey("faucet");

/** The mock USDC mint, six decimals. */
export const LOCAL_USDC_MINT: Address = localKey("usdc-mint").address;
