import { type Address, addressToBytes } from "../../../core/domain/address.ts";
import type { Instruction } from "../../../core/domain/ledger/instruction.ts";

/** A count in the wire format: seven bits per byte (Agave `short-vec`). */
const compact = (count: number): ReadonlyArray<number> =>
  count < 0x80 ? [count] : [(count & 0x7f) | 0x80, count >> 7];

/**
 * A version 0 transaction with empty signatures, for a ledger that does not check them: kit's compiler takes a hundred
 * times as long. The payer signs and pays the fee.
 */
export const unsignedTransaction = (
  payer: Address,
  instructions: ReadonlyArray<Instruction>,
): Uint8Array => {
  const roles = new Map<Address, number>([[payer, 3]]);
  for (const { programAddress, accounts } of instructions) {
    for (const { address, role } of accounts) roles.set(address, (roles.get(address) ?? 0) | role);
    roles.set(programAddress, roles.get(programAddress) ?? 0);
  }
  // Writable signers, other signers, other writable accounts, the rest.
  const groups = [3, 2, 1, 0].map((role) => [...roles].filter((each) => each[1] === role));
  const [writableSigners = [], signers = [], writables = [], rest = []] = groups;
  const keys = [...writableSigners, ...signers, ...writables, ...rest].map(([address]) => address);
  const places = new Map(keys.map((address, place) => [address, place]));
  const placeOf = (address: Address): number => places.get(address) ?? 0;
  const signed = writableSigners.length + signers.length;
  const parts: Array<ArrayLike<number>> = [
    compact(signed),
    new Uint8Array(64 * signed),
    [0x80, signed, signers.length, rest.length],
    compact(keys.length),
    ...keys.map(addressToBytes),
    new Uint8Array(32),
    compact(instructions.length),
  ];
  for (const { programAddress, accounts, data } of instructions)
    parts.push(
      [placeOf(programAddress)],
      compact(accounts.length),
      accounts.map(({ address }) => placeOf(address)),
      compact(data.length),
      data,
    );
  parts.push([0]);
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
};
