import { bytesToHex } from "@noble/hashes/utils.js";
import type { Address } from "../../domain/address.ts";
import type { LedgerAccount } from "../../domain/ledger/account.ts";
import { sha256 } from "../../domain/sha256.ts";
import { decodeProgramDataAccount } from "../../protocol/accounts/loader-v3.ts";

/** One program as the ledger shows it. Null means not known. */
export type ProgramStatus = {
  readonly address: Address;
  readonly deployed: boolean | null;
  readonly executable: boolean | null;
  /** Null also when nobody can upgrade the program. */
  readonly upgradeAuthority: Address | null;
  /** SHA-256 of the deployed ELF without the zero bytes at its end, hex. */
  readonly sha256: string | null;
};

const withoutTrailingZeros = (bytes: Uint8Array): Uint8Array => {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end--;
  return bytes.subarray(0, end);
};

/** The status of a program from its account and its data account. Null accounts mean that the ledger did not answer. */
export const programStatus = (
  address: Address,
  accounts: { readonly program: LedgerAccount | null; readonly data: LedgerAccount | null } | null,
): ProgramStatus => {
  if (accounts === null)
    return { address, deployed: null, executable: null, upgradeAuthority: null, sha256: null };
  const { program, data } = accounts;
  const programData = data === null ? undefined : decodeProgramDataAccount(data);
  return {
    address,
    deployed: program !== null,
    executable: program?.executable ?? false,
    upgradeAuthority: programData?.upgradeAuthority ?? null,
    sha256:
      programData === undefined ? null : bytesToHex(sha256(withoutTrailingZeros(programData.elf))),
  };
};
