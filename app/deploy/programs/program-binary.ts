import { readFile } from "node:fs/promises";
import type { Hash32 } from "../../../core/domain/hash32.ts";
import { programHash } from "../../../core/protocol/accounts/loader-v3.ts";
import type { SbpfVersion } from "../cluster/feature-gates.ts";

/** The programs by name, in the order in which they are deployed. */
export const PROGRAM_NAMES = ["attestor", "custody"] as const;

/** One of them. */
export type ProgramName = (typeof PROGRAM_NAMES)[number];

/** A built program file. */
export type ProgramBinary = {
  readonly version: SbpfVersion;
  /** Below `programs/`. */
  readonly file: string;
  readonly elf: Uint8Array;
  /** The file's `programHash`, which is its SHA-256, since no built file ends with zero bytes. */
  readonly sha256: Hash32;
};

/** The built file of a program for a version of the bytecode. */
export const programBinary = async (
  name: ProgramName,
  version: SbpfVersion,
): Promise<ProgramBinary> => {
  const file = version === "v0" ? `${name}.so` : `${name}.${version}.so`;
  const elf = new Uint8Array(await readFile(new URL(`../../../programs/${file}`, import.meta.url)));
  return { version, file, elf, sha256: programHash(elf) };
};
