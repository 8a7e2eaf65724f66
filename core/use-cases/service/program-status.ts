import { Effect } from "effect";
import { Instance } from "../../../ports/instance.ts";
import { Ledger } from "../../../ports/ledger/ledger.ts";
import type { Address } from "../../domain/address.ts";
import type { Hash32 } from "../../domain/hash32.ts";
import type { LedgerAccount } from "../../domain/ledger/account.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import {
  decodeAttestorRegistryAccount,
  decodeCustodyConfigAccount,
} from "../../protocol/accounts/settings-accounts.ts";
import { decodeProgramDataAccount, programHash } from "../../protocol/accounts/loader-v3.ts";
import { custodyConfigAddress, registryAddress } from "../../protocol/addresses/addresses.ts";
import { PROGRAM_HASHES } from "../../protocol/generated/program-hashes.ts";
import { ledgerDomain } from "./ledger-domain.ts";

/** What the programs' own accounts say. */
type InitialisedPrograms = {
  /** Whether each program is initialised for the other: its own account exists and names the other program. */
  readonly custody: boolean;
  readonly attestor: boolean;
  /**
   * Whether custody's config names another ledger than this one: nothing that is signed for this one releases an escrow
   * there.
   */
  readonly isOfOtherLedger: boolean;
};

/** The addresses of the programs' own accounts: custody's config and the attestor program's registry. */
export const ownAccounts = (deployment: Deployment) =>
  [custodyConfigAddress(deployment).address, registryAddress(deployment).address] as const;

/**
 * What custody's config and the registry say of each other and of the ledger. Swapped or foreign program ids are in
 * neither.
 */
export const initialisedBy = (
  config: LedgerAccount | null,
  registry: LedgerAccount | null,
  deployment: Deployment,
  domain: Hash32,
): InitialisedPrograms => {
  const custody = config && decodeCustodyConfigAccount(config, deployment);
  const attestor = registry && decodeAttestorRegistryAccount(registry, deployment);
  return {
    custody:
      custody !== null &&
      "value" in custody &&
      custody.value.attestorProgram === deployment.attestorProgram,
    attestor:
      attestor !== null &&
      "value" in attestor &&
      attestor.value.custodyProgram === deployment.custodyProgram,
    isOfOtherLedger: custody !== null && "value" in custody && custody.value.domain !== domain,
  };
};

/** What the programs' own accounts say on the confirmed ledger. Fails as a read of the ledger does. */
export const readInitialised = Effect.gen(function* () {
  const ledger = yield* Ledger;
  const { deployment } = yield* Instance;
  const domain = yield* ledgerDomain;
  const { value } = yield* ledger.readAccounts(ownAccounts(deployment), "confirmed");
  return initialisedBy(value[0] ?? null, value[1] ?? null, deployment, domain);
});

/** One program as the ledger shows it. Null means not known. */
export type ProgramStatus = {
  readonly address: Address;
  readonly deployed: boolean | null;
  readonly executable: boolean | null;
  /** Null also when nobody can upgrade the program. */
  readonly upgradeAuthority: Address | null;
  /** The `programHash` of the deployed ELF. Null when not known. */
  readonly sha256: string | null;
  /** The hashes that this service accepts; empty for any. */
  readonly pinned: ReadonlyArray<string>;
  /** Whether `sha256` is one of `pinned`; null when nothing is pinned, or not known. */
  readonly isPinned: boolean | null;
  /** The bytecode's version from the ELF header, null when it is not an ELF or not known. */
  readonly sbpfVersion: number | null;
  /** Whether the ELF equals the binary of that version that comes with this service; null when not known. */
  readonly isOurs: boolean | null;
  /**
   * Whether its own account exists and names the other program, and custody's also this ledger; null when not known.
   */
  readonly initialised: boolean | null;
};

/** The programs by name, as `PROGRAM_HASHES` has them. */
export type ProgramName = keyof typeof PROGRAM_HASHES;

/** Offset of `e_flags` (u32 LE) in an ELF-64 header, and the header's length. */
const FLAGS_AT = 48;
const HEADER_LENGTH = 64;
const MAGIC = [0x7f, 0x45, 0x4c, 0x46];

/** The SBPF version of an ELF, which is its `e_flags` (Agave `solana-sbpf`, `elf.rs`). */
const sbpfVersionOf = (elf: Uint8Array): number | null =>
  elf.length >= HEADER_LENGTH && MAGIC.every((byte, at) => elf[at] === byte)
    ? new DataView(elf.buffer, elf.byteOffset).getUint32(FLAGS_AT, true)
    : null;

const isOursOf = (name: ProgramName, version: number | null, hash: string): boolean => {
  const hashes: Readonly<Record<string, string>> = PROGRAM_HASHES[name];
  return hashes[`v${version}`] === hash;
};

/** The status of a program from its account and its data account. Null accounts mean that the ledger did not answer. */
export const programStatus = (
  name: ProgramName,
  address: Address,
  accounts: { readonly program: LedgerAccount | null; readonly data: LedgerAccount | null } | null,
  initialised: boolean | null,
  pinned: ReadonlyArray<string>,
): ProgramStatus => {
  if (accounts === null)
    return {
      address,
      deployed: null,
      executable: null,
      upgradeAuthority: null,
      sha256: null,
      pinned,
      isPinned: null,
      sbpfVersion: null,
      isOurs: null,
      initialised: null,
    };
  const { program, data } = accounts;
  const programData = data === null ? undefined : decodeProgramDataAccount(data);
  const elf = programData?.elf ?? null;
  const hash = elf === null ? null : programHash(elf);
  const sbpfVersion = elf === null ? null : sbpfVersionOf(elf);
  return {
    address,
    deployed: program !== null,
    executable: program?.executable ?? false,
    upgradeAuthority: programData?.upgradeAuthority ?? null,
    sha256: hash,
    pinned,
    // A program that is missing is not the pinned one either.
    isPinned: pinned.length === 0 ? null : hash !== null && pinned.includes(hash),
    sbpfVersion,
    isOurs: hash === null ? null : isOursOf(name, sbpfVersion, hash),
    initialised,
  };
};

/** Whether a program can be called, is initialised, and is what this service pins. */
export const isUsable = ({ executable, initialised, isPinned }: ProgramStatus): boolean =>
  executable === true && initialised === true && isPinned !== false;
