import { type Address, addressFromBytes, addressToBytes } from "../../domain/address.ts";
import { FAST_PARTS } from "../../domain/encoding/fast/fast-parts.ts";
import { RecentlyUsed } from "../../domain/recently-used.ts";
import { sha256 } from "../../domain/sha256.ts";

const { isEdwardsPoint } = FAST_PARTS;
/** A process has few programs. Decoding the text takes longer than the hash. */
const MEMOIZED_PROGRAMS = 16;
const programs = new RecentlyUsed<Address, Uint8Array>(MEMOIZED_PROGRAMS);
const bytesOfProgram = (program: Address): Uint8Array => {
  const known = programs.get(program);
  if (known !== undefined) return known;
  const bytes = addressToBytes(program);
  programs.set(program, bytes);
  return bytes;
};
const MARKER = new TextEncoder().encode("ProgramDerivedAddress");

/** A derived address and the bump, in [0, 255], that took it off the curve. */
export type ProgramDerivedAddress = { readonly address: Address; readonly bump: number };

/**
 * What is hashed: seeds, bump, program id and `ProgramDerivedAddress`. The bump stands at `bumpAt`.
 * @throws Error for more than 15 seeds, or one of more than 32 bytes.
 */
const preimageOf = (program: Address, seeds: ReadonlyArray<Uint8Array>) => {
  let bumpAt = 0;
  let isTooLong = seeds.length > 15;
  for (const { length } of seeds) {
    isTooLong ||= length > 32;
    bumpAt += length;
  }
  if (isTooLong) throw new Error("at most 15 seeds of at most 32 bytes");
  const preimage = new Uint8Array(bumpAt + 1 + 32 + MARKER.length);
  let at = 0;
  for (const seed of seeds) {
    preimage.set(seed, at);
    at += seed.length;
  }
  preimage.set(bytesOfProgram(program), bumpAt + 1);
  preimage.set(MARKER, bumpAt + 33);
  return { preimage, bumpAt };
};

/**
 * The canonical program derived address of at most 15 seeds of at most 32 bytes each: SHA-256 over
 * seeds, bump, program id and `ProgramDerivedAddress`, bump from 255 down, first digest that is no
 * point encoding (Agave, `sdk/pubkey`: `Pubkey::find_program_address`).
 * @throws Error when a seed is too long or no bump works (about one chance in 2^255).
 */
export const findProgramDerivedAddress = (
  program: Address,
  seeds: ReadonlyArray<Uint8Array>,
): ProgramDerivedAddress => {
  const { preimage, bumpAt } = preimageOf(program, seeds);
  for (let candidate = 255; candidate >= 0; candidate--) {
    preimage[bumpAt] = candidate;
    const digest = sha256(preimage);
    if (!isEdwardsPoint(digest)) return { address: addressFromBytes(digest), bump: candidate };
  }
  throw new Error("no bump takes these seeds off the curve");
};

/**
 * The 32 bytes of the address that `findProgramDerivedAddress` finds, from the bump that it found. Another bump gives
 * another address, or one that no program can derive. @throws Error when a seed is too long.
 */
export const digestAt = (
  program: Address,
  seeds: ReadonlyArray<Uint8Array>,
  bump: number,
): Uint8Array => {
  const { preimage, bumpAt } = preimageOf(program, seeds);
  preimage[bumpAt] = bump;
  return sha256(preimage);
};

/** What `digestAt` gives, as text. @throws Error as it does. */
export const programDerivedAddressAt = (
  program: Address,
  seeds: ReadonlyArray<Uint8Array>,
  bump: number,
): Address => addressFromBytes(digestAt(program, seeds, bump));

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
