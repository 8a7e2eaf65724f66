import { readFile } from "node:fs/promises";
import { bytesToHex } from "@noble/hashes/utils.js";
import { sha256 } from "../../../core/domain/sha256.ts";
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
  /** SHA-256 of the file, hex. */
  readonly sha256: string;
};

/** The built file of a program for a version of the bytecode. */
export const programBinary = async (
  name: ProgramName,
  version: SbpfVersion,
): Promise<ProgramBinary> => {
  const file = version === "v0" ? `${name}.so` : `${name}.${version}.so`;
  const elf = new Uint8Array(await readFile(new URL(`../../../programs/${file}`, import.meta.url)));
  return { version, file, elf, sha256: bytesToHex(sha256(elf)) };
};

/** Whether what stands on the ledger is a file, with nothing but zeros behind it. */
export const holdsBinary = (elf: Uint8Array, binary: Uint8Array): boolean =>
  elf.length >= binary.length &&
  Buffer.compare(elf.subarray(0, binary.length), binary) === 0 &&
  elf.subarray(binary.length).every((byte) => byte === 0);
