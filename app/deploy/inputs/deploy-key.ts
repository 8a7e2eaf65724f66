import { ed25519Key } from "../../../adapters/signer/ed25519-key.ts";
import { type Address, addressFromBytes } from "../../../core/domain/address.ts";

/** A key that signs transactions of a deployment. */
export type DeployKey = {
  readonly address: Address;
  /** The 64-byte Ed25519 signature of a message. */
  readonly sign: (message: Uint8Array) => Uint8Array;
};

/** The key of an Ed25519 seed of 32 bytes. */
export const deployKeyOf = (seed: Uint8Array): DeployKey => {
  const { publicKey, sign } = ed25519Key(seed);
  return { address: addressFromBytes(publicKey), sign };
};
