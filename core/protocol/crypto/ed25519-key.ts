import { ed25519 } from "@noble/curves/ed25519.js";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";

/** An Ed25519 key pair (RFC 8032). The private part can only be used through `sign`. */
export type Ed25519Key = {
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** The signature, 64 bytes. The same message always gets the same signature (RFC 8032, section 5.1.6). */
  readonly sign: (message: Uint8Array) => Uint8Array;
};

/** Gives the key pair of a seed of 32 bytes. */
type MakeEd25519Key = (seed: Uint8Array) => Ed25519Key;

/** `ed25519Key` in JavaScript, for runtimes that provide none. */
export const portableEd25519Key: MakeEd25519Key = (seed) => ({
  publicKey: ed25519.getPublicKey(seed),
  sign: (message) => ed25519.sign(message, seed),
});

let implementation = portableEd25519Key;

/** The key pair of a seed of 32 bytes. Uses the runtime's once `provideEd25519Key` has set it. */
export const ed25519Key: MakeEd25519Key = (seed) => implementation(seed);

/** RFC 8032, section 7.1, tests 1 and 2: a seed, its public key, a message and its signature. */
const TRIED = [
  {
    seed: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
    publicKey: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
    message: "",
    signature:
      "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
  },
  {
    seed: "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
    publicKey: "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
    message: "72",
    signature:
      "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
  },
] as const;

/**
 * Sets the runtime's keys for the whole process: a signature takes a thirtieth of the portable one's time. Signatures
 * are identical; only speed differs. @throws Error for keys that sign otherwise, which are then not used.
 */
export const provideEd25519Key = (native: MakeEd25519Key): void => {
  for (const tried of TRIED) {
    const { publicKey, sign } = native(hexToBytes(tried.seed));
    const isSame =
      bytesToHex(publicKey) === tried.publicKey &&
      bytesToHex(sign(hexToBytes(tried.message))) === tried.signature;
    if (!isSame) throw new Error("not Ed25519 as RFC 8032 has it: another signature");
  }
  implementation = native;
};
