import { type Address, addressFromBytes, addressToBytes } from "../../domain/address.ts";
import { sha256 } from "../../domain/sha256.ts";

/**
 * The address that a base key, a seed of 1 to 32 ASCII characters and an owner give: SHA-256 over the three (Agave
 * `sdk/pubkey`: `Pubkey::create_with_seed`). Only the base key can make the account. @throws Error for another seed.
 */
export const seededAddress = (base: Address, seed: string, owner: Address): Address => {
  if (!/^[!-~]{1,32}$/.test(seed)) throw new Error("a seed has 1 to 32 ASCII characters");
  const parts = [addressToBytes(base), new TextEncoder().encode(seed), addressToBytes(owner)];
  const preimage = new Uint8Array(64 + seed.length);
  let at = 0;
  for (const part of parts) {
    preimage.set(part, at);
    at += part.length;
  }
  return addressFromBytes(sha256(preimage));
};
