import type { Address } from "../../domain/address.ts";
import {
  type Instruction,
  readonly,
  readonlySigner,
  writable,
  writableSigner,
} from "../../domain/ledger/instruction.ts";
import { fieldWriter } from "../accounts/byte-fields.ts";
import { programDataAddress } from "../addresses/addresses.ts";
import {
  CLOCK_SYSVAR,
  RENT_SYSVAR,
  SYSTEM_PROGRAM,
  UPGRADEABLE_LOADER,
} from "../addresses/well-known-addresses.ts";

// Instructions of the upgradeable loader: a tag u32 LE, then the fields (Agave `loader-v3-interface`,
// `instruction.rs`).

const loaderInstruction = (accounts: Instruction["accounts"], data: Uint8Array): Instruction => ({
  programAddress: UPGRADEABLE_LOADER,
  accounts,
  data,
});

/** InitializeBuffer: makes a new account of the loader a buffer that `authority` may write to. */
export const initializeBufferInstruction = (buffer: Address, authority: Address): Instruction =>
  loaderInstruction([writable(buffer), readonly(authority)], fieldWriter(4).u32(0).done());

/** Write: puts bytes at an offset of the buffer's ELF. */
export const writeBufferInstruction = (
  buffer: Address,
  authority: Address,
  offset: number,
  bytes: Uint8Array,
): Instruction =>
  loaderInstruction(
    [writable(buffer), readonlySigner(authority)],
    fieldWriter(16 + bytes.length)
      .u32(1)
      .u32(offset)
      .u64(BigInt(bytes.length))
      .bytes(bytes)
      .done(),
  );

/**
 * DeployWithMaxDataLen: makes a program of a buffer, with room for `maxLength` bytes of ELF. The buffer's lamports go
 * to the payer before the payer pays for the program's data.
 */
export const deployProgramInstruction = (input: {
  readonly payer: Address;
  readonly program: Address;
  readonly buffer: Address;
  readonly authority: Address;
  readonly maxLength: number;
}): Instruction =>
  loaderInstruction(
    [
      writableSigner(input.payer),
      writable(programDataAddress(input.program)),
      writable(input.program),
      writable(input.buffer),
      readonly(RENT_SYSVAR),
      readonly(CLOCK_SYSVAR),
      readonly(SYSTEM_PROGRAM),
      readonlySigner(input.authority),
    ],
    fieldWriter(12).u32(2).u64(BigInt(input.maxLength)).done(),
  );

/** Upgrade: replaces a program's ELF by a buffer's. The buffer's lamports go to `spill`. */
export const upgradeProgramInstruction = (input: {
  readonly program: Address;
  readonly buffer: Address;
  readonly spill: Address;
  readonly authority: Address;
}): Instruction =>
  loaderInstruction(
    [
      writable(programDataAddress(input.program)),
      writable(input.program),
      writable(input.buffer),
      writable(input.spill),
      readonly(RENT_SYSVAR),
      readonly(CLOCK_SYSVAR),
      readonlySigner(input.authority),
    ],
    fieldWriter(4).u32(3).done(),
  );

/**
 * SetAuthority: gives a buffer or a ProgramData account to another authority, which does not sign. Null leaves a
 * program to nobody, for good; the loader refuses it for a buffer.
 */
export const setAuthorityInstruction = (
  account: Address,
  authority: Address,
  next: Address | null,
): Instruction =>
  loaderInstruction(
    [writable(account), readonlySigner(authority), ...(next === null ? [] : [readonly(next)])],
    fieldWriter(4).u32(4).done(),
  );

/** Close: ends a buffer and gives its lamports to `recipient`. */
export const closeBufferInstruction = (
  buffer: Address,
  recipient: Address,
  authority: Address,
): Instruction =>
  loaderInstruction(
    [writable(buffer), writable(recipient), readonlySigner(authority)],
    fieldWriter(4).u32(5).done(),
  );

/** Fewest bytes by which ExtendProgram extends (SIMD-0431, MINIMUM_EXTEND_PROGRAM_BYTES). */
export const MIN_EXTENSION_BYTES = 10_240;

/** ExtendProgram: gives a program room for more bytes of ELF, which the payer pays for. */
export const extendProgramInstruction = (
  program: Address,
  payer: Address,
  bytes: number,
): Instruction =>
  loaderInstruction(
    [
      writable(programDataAddress(program)),
      writable(program),
      readonly(SYSTEM_PROGRAM),
      writableSigner(payer),
    ],
    fieldWriter(8).u32(6).u32(bytes).done(),
  );
