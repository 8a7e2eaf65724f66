import type { Address } from "../../../core/domain/address.ts";
import {
  type Instruction,
  readonlySigner,
  writable,
  writableSigner,
} from "../../../core/domain/ledger/instruction.ts";
import { fieldWriter } from "../../../core/protocol/accounts/byte-fields.ts";
import {
  COMPUTE_BUDGET_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "../../../core/protocol/addresses/well-known-addresses.ts";

/** System Transfer: u32 LE 2, lamports u64 LE (Agave `system_instruction.rs`). */
export const transferLamports = (from: Address, to: Address, lamports: bigint): Instruction => ({
  programAddress: SYSTEM_PROGRAM,
  accounts: [writableSigner(from), writable(to)],
  data: fieldWriter(12).u32(2).u64(lamports).done(),
});

/** SPL Token MintTo: u8 7, amount u64 LE in base units (SPL Token `instruction.rs`). */
export const mintTokens = (input: {
  readonly mint: Address;
  readonly account: Address;
  readonly authority: Address;
  readonly amount: bigint;
}): Instruction => ({
  programAddress: TOKEN_PROGRAM,
  accounts: [writable(input.mint), writable(input.account), readonlySigner(input.authority)],
  data: fieldWriter(9).u8(7).u64(input.amount).done(),
});

/** ComputeBudget SetComputeUnitLimit: u8 2, units u32 LE (Agave `compute_budget.rs`). */
export const computeUnitLimit = (units: number): Instruction => ({
  programAddress: COMPUTE_BUDGET_PROGRAM,
  accounts: [],
  data: fieldWriter(5).u8(2).u32(units).done(),
});

/** System CreateAccount: u32 LE 0, lamports u64, space u64, owner 32 (Agave `system_instruction.rs`). */
export const createAccount = (input: {
  readonly payer: Address;
  readonly account: Address;
  readonly lamports: bigint;
  readonly space: number;
  readonly owner: Address;
}): Instruction => ({
  programAddress: SYSTEM_PROGRAM,
  accounts: [writableSigner(input.payer), writableSigner(input.account)],
  data: fieldWriter(52)
    .u32(0)
    .u64(input.lamports)
    .u64(BigInt(input.space))
    .address(input.owner)
    .done(),
});

/**
 * SPL Token InitializeMint2: u8 20, decimals u8, mint authority 32, no freeze authority (SPL Token `instruction.rs`).
 */
export const initializeMint = (input: {
  readonly mint: Address;
  readonly decimals: number;
  readonly authority: Address;
}): Instruction => ({
  programAddress: TOKEN_PROGRAM,
  accounts: [writable(input.mint)],
  data: fieldWriter(35).u8(20).u8(input.decimals).address(input.authority).u8(0).done(),
});
