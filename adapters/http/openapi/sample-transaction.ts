import { ed25519 } from "@noble/curves/ed25519.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { type Address, addressToBytes } from "../../../core/domain/address.ts";
import { AccountRole, type Instruction } from "../../../core/domain/ledger/instruction.ts";
import { sha256 } from "../../../core/domain/sha256.ts";
import { once } from "../server/once.ts";
import { samplePreparedEscrow } from "./sample-ledger.ts";
import { sampleAgentSecret } from "./sample-values.ts";

const isSigner = (role: AccountRole): boolean => role >= AccountRole.readonlySigner;
const isWritable = (role: AccountRole): boolean =>
  role === AccountRole.writable || role === AccountRole.writableSigner;

/** The accounts in the order of a message: signers before others, and in each group writable before read-only. */
const ROLES = [
  AccountRole.writableSigner,
  AccountRole.readonlySigner,
  AccountRole.writable,
  AccountRole.readonly,
];

/** A legacy message of one instruction, its counts below 128 (Solana's compact-u16 in one byte). */
const messageOf = (instruction: Instruction, blockhash: Uint8Array): Uint8Array => {
  const roles = new Map<Address, AccountRole>([[instruction.programAddress, AccountRole.readonly]]);
  for (const { address, role } of instruction.accounts)
    // An account that is listed twice gets the rights of both entries: bit 0 is writable, bit 1 signer.
    roles.set(address, ((roles.get(address) ?? 0) | role) as AccountRole);
  const accounts = ROLES.flatMap((wanted) =>
    [...roles].filter(([, role]) => role === wanted).map(([address]) => address),
  );
  const count = (test: (role: AccountRole) => boolean): number =>
    [...roles.values()].filter(test).length;
  const place = (address: Address): number => accounts.indexOf(address);
  return concatBytes(
    Uint8Array.of(
      count(isSigner),
      count((role) => isSigner(role) && !isWritable(role)),
      count((role) => !isSigner(role) && !isWritable(role)),
      accounts.length,
    ),
    ...accounts.map(addressToBytes),
    blockhash,
    Uint8Array.of(1, place(instruction.programAddress), instruction.accounts.length),
    Uint8Array.from(instruction.accounts, ({ address }) => place(address)),
    Uint8Array.of(instruction.data.length),
    instruction.data,
  );
};

/** The wire bytes of the transaction that creates the sample escrow, signed by its agent, with a made-up blockhash. */
export const sampleTransaction = once((): Uint8Array => {
  const { instruction } = samplePreparedEscrow();
  const message = messageOf(instruction, sha256(new TextEncoder().encode("example blockhash")));
  return concatBytes(Uint8Array.of(1), ed25519.sign(message, sampleAgentSecret()), message);
});
