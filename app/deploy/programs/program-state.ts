import type { Address } from "../../../core/domain/address.ts";
import type { LedgerAccount } from "../../../core/domain/ledger/account.ts";
import {
  decodeBufferAccount,
  decodeProgramDataAccount,
  type ProgramData,
  programHash,
} from "../../../core/protocol/accounts/loader-v3.ts";
import { programDataAddress } from "../../../core/protocol/addresses/addresses.ts";
import {
  SYSTEM_PROGRAM,
  UPGRADEABLE_LOADER,
} from "../../../core/protocol/addresses/well-known-addresses.ts";
import type { DeployContext, ProgramTarget } from "../deploy-context.ts";
import { DeployStopped } from "../deploy-stopped.ts";
import { bufferAddress, type ProgramBinary } from "./program-buffer.ts";

/** A program as the ledger shows it. */
export type ProgramState = {
  /** The lamports at the program's address. */
  readonly lamports: bigint;
  /** What is deployed; null for nothing. */
  readonly data: ProgramData | null;
  /** The lamports of the program's data account. */
  readonly dataLamports: bigint;
  /** The payer's buffer for the program: its length in bytes of ELF and its lamports; null for none. */
  readonly buffer: { readonly length: number; readonly lamports: bigint } | null;
};

const notUpgradeable = (name: string, address: Address, what: string): DeployStopped =>
  new DeployStopped(
    1,
    `${name}: ${address} ${what}; name an upgradeable program, or leave its key to this command: with another --keys folder it makes new program ids`,
  );

const isFree = (account: LedgerAccount | null): boolean =>
  account === null || (account.owner === SYSTEM_PROGRAM && account.data.length === 0);

/**
 * Reads a program, its data and the payer's buffer for it. @throws DeployStopped for an address that holds something
 * else.
 */
export const readProgram = async (
  { rpc, payer }: DeployContext,
  { name, address }: Pick<ProgramTarget, "name" | "address">,
): Promise<ProgramState> => {
  const [program = null, data = null, buffer = null] = await rpc.accounts([
    address,
    programDataAddress(address),
    bufferAddress(payer.address, name),
  ]);
  const held = buffer === null ? undefined : decodeBufferAccount(buffer);
  const deployed = data === null ? undefined : decodeProgramDataAccount(data);
  if (!isFree(program) && (program?.owner !== UPGRADEABLE_LOADER || !program.executable))
    throw notUpgradeable(
      name,
      address,
      `belongs to ${program?.owner} and is no upgradeable program`,
    );
  if (!isFree(program) && deployed === undefined)
    throw notUpgradeable(name, address, "has been closed for good");
  return {
    lamports: program?.lamports ?? 0n,
    data: deployed ?? null,
    dataLamports: data?.lamports ?? 0n,
    buffer:
      held === undefined ? null : { length: held.elf.length, lamports: buffer?.lamports ?? 0n },
  };
};

/** The binary that stands on the ledger, undefined when it is none of these. */
export const deployedBinary = (
  { data }: ProgramState,
  binaries: ReadonlyArray<ProgramBinary>,
): ProgramBinary | undefined => {
  const hash = data === null ? null : programHash(data.elf);
  return binaries.find(({ sha256 }) => sha256 === hash);
};

/** Checks that the payer may upgrade a deployed program. @throws DeployStopped that names who may. */
export const requireUpgradeable = (
  { name, address }: Pick<ProgramTarget, "name" | "address">,
  { data }: ProgramState,
  payer: Address,
): void => {
  if (data === null || data.upgradeAuthority === payer) return;
  if (data.upgradeAuthority === null)
    throw notUpgradeable(name, address, "can be upgraded by nobody any more");
  throw new DeployStopped(
    1,
    `${name}: ${address} can be upgraded by ${data.upgradeAuthority} only, not by the payer ${payer}; use that key as --payer-key, or another --keys folder for new programs`,
  );
};
