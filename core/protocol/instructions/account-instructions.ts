import { type Address, ZERO_ADDRESS } from "../../domain/address.ts";
import type { OpenInstruction } from "../../domain/escrow/prepared-call.ts";
import {
  type Instruction,
  readonlySigner,
  writable,
  writableSigner,
} from "../../domain/ledger/instruction.ts";
import { fieldWriter } from "../accounts/byte-fields.ts";
import { createAssociatedTokenInstruction } from "../accounts/token.ts";
import { seededAddress } from "../addresses/program-derived-address.ts";
import { SYSTEM_PROGRAM } from "../addresses/well-known-addresses.ts";

/** System Allocate: u32 LE 8, space u64 LE in bytes (Agave `system_instruction.rs`). The account signs. */
export const allocateAccount = (account: Address, space: number): Instruction => ({
  programAddress: SYSTEM_PROGRAM,
  accounts: [writableSigner(account)],
  data: fieldWriter(12).u32(8).u64(BigInt(space)).done(),
});

/** System Assign: u32 LE 1, owner 32 (Agave `system_instruction.rs`). The account signs. */
export const assignAccount = (account: Address, owner: Address): Instruction => ({
  programAddress: SYSTEM_PROGRAM,
  accounts: [writableSigner(account)],
  data: fieldWriter(36).u32(1).address(owner).done(),
});

/** What the address of a seeded account derives from. */
type Seeded = { readonly base: Address; readonly seed: string; readonly owner: Address };

/**
 * System AllocateWithSeed: u32 LE 9, base 32, seed, space u64 LE, owner 32 (Agave `system_instruction.rs`). It also
 * assigns.
 */
export const allocateSeededAccount = (
  { base, seed, owner }: Seeded,
  space: number,
): Instruction => ({
  programAddress: SYSTEM_PROGRAM,
  accounts: [writable(seededAddress(base, seed, owner)), readonlySigner(base)],
  // A text in bincode: its length as u64 LE, then its bytes.
  data: fieldWriter(84 + seed.length)
    .u32(9)
    .address(base)
    .u64(BigInt(seed.length))
    .bytes(new TextEncoder().encode(seed))
    .u64(BigInt(space))
    .address(owner)
    .done(),
});

/**
 * Makes a wallet's associated token account if it is missing, at the sender's cost; does nothing when the wallet has it
 * already.
 */
export const openAssociatedToken = (owner: Address, mint: Address): OpenInstruction => {
  const instruction = createAssociatedTokenInstruction({ payer: ZERO_ADDRESS, owner, mint });
  return {
    ...instruction,
    accounts: instruction.accounts.map(({ address, role }, i) => ({
      address: i === 0 ? null : address,
      role,
    })),
  };
};

/** The instructions with the payer's address in place of null. */
export const withPayer = (
  instructions: ReadonlyArray<OpenInstruction>,
  payer: Address,
): ReadonlyArray<Instruction> =>
  instructions.map((instruction) => ({
    ...instruction,
    accounts: instruction.accounts.map(({ address, role }) => ({
      address: address ?? payer,
      role,
    })),
  }));
