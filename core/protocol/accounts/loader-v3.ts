import type { Address } from "../../domain/address.ts";
import { type Hash32, hash32FromBytes } from "../../domain/hash32.ts";
import type { LedgerAccount } from "../../domain/ledger/account.ts";
import { sha256 } from "../../domain/sha256.ts";
import { programDataAddress } from "../addresses/addresses.ts";
import { fieldsOf, fieldWriter } from "./byte-fields.ts";
import { UPGRADEABLE_LOADER } from "../addresses/well-known-addresses.ts";

/** Tags of `UpgradeableLoaderState`, u32 LE (Agave `loader-v3-interface`, `state.rs`). */
const BUFFER = 1;
const PROGRAM = 2;
const PROGRAM_DATA = 3;

/** Bytes before the ELF in a Buffer account: tag 4, Option<Pubkey> 33. */
export const BUFFER_HEADER_LENGTH = 37;
/** Bytes of a Program account: tag 4, address of its ProgramData account 32. */
export const PROGRAM_LENGTH = 36;
/** Bytes before the ELF in a ProgramData account: tag 4, slot 8, Option<Pubkey> 33, written in full even when none. */
export const PROGRAM_DATA_HEADER_LENGTH = 45;

/** What a ProgramData account of the upgradeable loader holds. */
export type ProgramData = {
  /** The slot of the last deployment. */
  readonly slot: bigint;
  /** Who may replace the program; null when nobody can any more. */
  readonly upgradeAuthority: Address | null;
  /** The program as deployed, with the zero bytes that were reserved behind it. */
  readonly elf: Uint8Array;
};

/**
 * The SHA-256 of an ELF without the zero bytes at its end: the same for a file, for a buffer, and for a program that
 * has room behind it.
 */
export const programHash = (elf: Uint8Array): Hash32 => {
  let end = elf.length;
  while (end > 0 && elf[end - 1] === 0) end--;
  return hash32FromBytes(sha256(elf.subarray(0, end)));
};

/** The data (36 bytes) of the account at a program's own address. */
export const encodeProgramAccount = (program: Address): Uint8Array =>
  fieldWriter(PROGRAM_LENGTH).u32(PROGRAM).address(programDataAddress(program)).done();

/** The data of a program's ProgramData account. */
export const encodeProgramDataAccount = ({
  slot,
  upgradeAuthority,
  elf,
}: ProgramData): Uint8Array => {
  const writer = fieldWriter(PROGRAM_DATA_HEADER_LENGTH + elf.length)
    .u32(PROGRAM_DATA)
    .u64(slot);
  return upgradeAuthority === null
    ? writer.skip(33).bytes(elf).done()
    : writer.u8(1).address(upgradeAuthority).bytes(elf).done();
};

/** What the bytes of a ProgramData account say, or undefined when they are none. The ELF is a view, not a copy. */
export const decodeProgramDataAccount = (
  account: Pick<LedgerAccount, "owner" | "data">,
): ProgramData | undefined => {
  const { owner, data } = account;
  if (owner !== UPGRADEABLE_LOADER || data.length < PROGRAM_DATA_HEADER_LENGTH) return undefined;
  const fields = fieldsOf(data);
  const hasAuthority = fields.u8(12);
  if (fields.u32(0) !== PROGRAM_DATA || hasAuthority > 1) return undefined;
  return {
    slot: fields.u64(4),
    upgradeAuthority: hasAuthority === 1 ? fields.address(13) : null,
    elf: data.subarray(PROGRAM_DATA_HEADER_LENGTH),
  };
};

/** The hash of a deployed program by its ProgramData account; null where there is none. */
export const deployedHash = (account: LedgerAccount | null): Hash32 | null => {
  const data = account === null ? undefined : decodeProgramDataAccount(account);
  return data === undefined ? null : programHash(data.elf);
};

/** What a Buffer account of the upgradeable loader holds. */
export type ProgramBuffer = {
  /** Who may write to it; null when nobody can. */
  readonly authority: Address | null;
  /** What has been written, zero elsewhere. */
  readonly elf: Uint8Array;
};

/** What the bytes of a Buffer account say, or undefined when they are none. The ELF is a view, not a copy. */
export const decodeBufferAccount = (
  account: Pick<LedgerAccount, "owner" | "data">,
): ProgramBuffer | undefined => {
  const { owner, data } = account;
  if (owner !== UPGRADEABLE_LOADER || data.length < BUFFER_HEADER_LENGTH) return undefined;
  const fields = fieldsOf(data);
  const hasAuthority = fields.u8(4);
  if (fields.u32(0) !== BUFFER || hasAuthority > 1) return undefined;
  return {
    authority: hasAuthority === 1 ? fields.address(5) : null,
    elf: data.subarray(BUFFER_HEADER_LENGTH),
  };
};

/**
 * The two accounts of a deployed program, ProgramData first, since a ledger that is given the Program
 * account loads its code at once. `rentExempt` says the lamports that an account of a length in bytes must hold.
 */
export const deployedProgramAccounts = (
  program: Address,
  programData: ProgramData,
  rentExempt: (bytes: number) => bigint,
): readonly [LedgerAccount, LedgerAccount] => {
  const account = (address: Address, data: Uint8Array, executable: boolean): LedgerAccount => ({
    address,
    owner: UPGRADEABLE_LOADER,
    lamports: rentExempt(data.length),
    executable,
    data,
  });
  return [
    account(programDataAddress(program), encodeProgramDataAccount(programData), false),
    account(program, encodeProgramAccount(program), true),
  ];
};
