import { concatBytes } from "@noble/hashes/utils.js";
import { type Address, addressToBytes } from "../../domain/address.ts";
import { AccountRole, type Instruction } from "../../domain/ledger/instruction.ts";

/** A version 0 transaction that nobody has signed. */
export type UnsignedTransaction = {
  /** The wire form: a signature of 64 zero bytes for each signer, then the message. */
  readonly bytes: Uint8Array;
  /** The bytes that each signer signs. */
  readonly message: Uint8Array;
  /** Who must sign, in the order of the signatures; the payer first. */
  readonly signers: ReadonlyArray<Address>;
};

type Use = { isSigner: boolean; isWritable: boolean };

/** A length in one to three bytes of seven bits, shortest form (Agave `short_vec.rs`). */
const shortLength = (value: number): Uint8Array => {
  const bytes: Array<number> = [];
  let rest = value;
  while (rest > 127) {
    bytes.push((rest & 127) | 128);
    rest >>= 7;
  }
  return Uint8Array.of(...bytes, rest);
};

/** How a message uses each of its accounts, the payer first; a called program counts as read-only. */
const usesOf = (payer: Address, instructions: ReadonlyArray<Instruction>): Map<Address, Use> => {
  const uses = new Map<Address, Use>([[payer, { isSigner: true, isWritable: true }]]);
  const add = (address: Address, isSigner: boolean, isWritable: boolean) => {
    const use = uses.get(address);
    if (use === undefined) uses.set(address, { isSigner, isWritable });
    else {
      use.isSigner ||= isSigner;
      use.isWritable ||= isWritable;
    }
  };
  for (const { programAddress, accounts } of instructions) {
    for (const { address, role } of accounts)
      add(
        address,
        role === AccountRole.readonlySigner || role === AccountRole.writableSigner,
        role === AccountRole.writable || role === AccountRole.writableSigner,
      );
    add(programAddress, false, false);
  }
  return uses;
};

/**
 * The version 0 transaction of these instructions without address tables, its signatures left zero (Agave
 * `message/src/versions/v0`): writable signers, read-only signers, other writable accounts, the rest, each in order of
 * appearance.
 */
export const unsignedTransaction = (input: {
  readonly payer: Address;
  readonly instructions: ReadonlyArray<Instruction>;
  /** 32 bytes as base58. */
  readonly blockhash: Address;
}): UnsignedTransaction => {
  const uses = [...usesOf(input.payer, input.instructions)];
  const having = (isSigner: boolean, isWritable: boolean) =>
    uses.flatMap(([address, use]) =>
      use.isSigner === isSigner && use.isWritable === isWritable ? [address] : [],
    );
  const readonlySigners = having(true, false);
  const readonlyOthers = having(false, false);
  const signers = [...having(true, true), ...readonlySigners];
  const accounts = [...signers, ...having(false, true), ...readonlyOthers];
  const places = new Map(accounts.map((address, place) => [address, place]));
  const placeOf = (address: Address): number => places.get(address) ?? 0;
  const message = concatBytes(
    // The top bit marks a version, here 0; then the header.
    Uint8Array.of(128, signers.length, readonlySigners.length, readonlyOthers.length),
    shortLength(accounts.length),
    ...accounts.map(addressToBytes),
    addressToBytes(input.blockhash),
    shortLength(input.instructions.length),
    ...input.instructions.flatMap(({ programAddress, accounts: named, data }) => [
      Uint8Array.of(placeOf(programAddress)),
      shortLength(named.length),
      Uint8Array.from(named, ({ address }) => placeOf(address)),
      shortLength(data.length),
      data,
    ]),
    // No address tables.
    shortLength(0),
  );
  const bytes = concatBytes(
    shortLength(signers.length),
    new Uint8Array(64 * signers.length),
    message,
  );
  return { bytes, message, signers };
};
