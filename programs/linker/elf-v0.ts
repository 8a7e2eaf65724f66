import { alignUp, concat, packed, stringTable } from "./elf-bytes.ts";
import {
  FILE_HEADER_SIZE,
  type Section,
  type SecurityTxt,
  type Segment,
  SEGMENT_HEADER_SIZE,
  writeElfFile,
} from "./elf-file.ts";

/** Dynamic section tags (ELF-64 specification, "Dynamic section"). */
const DT_NULL = 0;
const DT_STRTAB = 5;
const DT_SYMTAB = 6;
const DT_STRSZ = 10;
const DT_SYMENT = 11;
const DT_REL = 17;
const DT_RELSZ = 18;
const DT_RELENT = 19;
const DT_FLAGS = 30;
const DF_TEXTREL = 4;

/** Where `.text` begins in every v0 program, in bytes from the file's start and in memory alike. */
export const V0_TEXT_ADDRESS = FILE_HEADER_SIZE + 3 * SEGMENT_HEADER_SIZE;

/** What the loader patches when it loads: types R_BPF_64_RELATIVE (8) and R_BPF_64_32 (10, a syscall). */
export type DynamicRelocation = {
  readonly address: number;
  readonly type: 8 | 10;
  /** Number of the syscall in `syscalls` plus 1, or 0. */
  readonly symbol: number;
};

/** A program linked for SBPF v0, before it becomes a file. */
export type V0Program = {
  readonly text: Uint8Array;
  readonly rodata: Uint8Array;
  readonly rodataAddress: number;
  readonly entryAddress: number;
  readonly securityTxt?: SecurityTxt | undefined;
  readonly syscalls: ReadonlyArray<string>;
  readonly relocations: ReadonlyArray<DynamicRelocation>;
};

const section = (
  name: string,
  type: number,
  flags: number,
  address: number,
  bytes: Uint8Array,
  alignment = 8,
): Section => ({ name, type, flags, offset: address, address, bytes, alignment });

const segment = (
  type: number,
  flags: number,
  address: number,
  size: number,
  alignment: number,
): Segment => ({ type, flags, offset: address, address, size, alignment });

/**
 * The shared object that the upgradeable loader accepts as an SBPF v0 program (solana-sbpf `elf.rs`):
 * every address equals its file offset, and the dynamic section leads to relocations and symbols.
 */
export const writeElfV0 = (program: V0Program): Uint8Array => {
  const { text, rodata, rodataAddress, syscalls, relocations, entryAddress } = program;
  const names = stringTable(syscalls);
  const symbols = concat([
    new Uint8Array(24),
    // A global symbol of no type, undefined here: the loader looks the name up among its syscalls.
    ...names.offsets.map((at) => packed([4, at], [1, 0x10], [1, 0], [2, 0], [8, 0], [8, 0])),
  ]);
  const relocationBytes = concat(
    relocations.map(({ address, type, symbol }) => packed([8, address], [4, type], [4, symbol])),
  );
  const dynamicAddress = alignUp(rodataAddress + rodata.length, 8);
  const dynamicSize = 9 * 16;
  const symbolsAddress = dynamicAddress + dynamicSize;
  const namesAddress = symbolsAddress + symbols.length;
  const relocationsAddress = alignUp(namesAddress + names.bytes.length, 8);
  const end = relocationsAddress + relocationBytes.length;
  const entries: ReadonlyArray<readonly [number, number]> = [
    [DT_FLAGS, DF_TEXTREL],
    // The loader refuses an empty table, but not a missing one.
    [DT_REL, relocations.length === 0 ? 0 : relocationsAddress],
    [DT_RELSZ, relocationBytes.length],
    [DT_RELENT, 16],
    [DT_SYMTAB, symbolsAddress],
    [DT_SYMENT, 24],
    [DT_STRTAB, namesAddress],
    [DT_STRSZ, names.bytes.length],
    [DT_NULL, 0],
  ];
  const dynamic = concat(entries.map(([tag, value]) => packed([8, tag], [8, value])));

  return writeElfFile({
    flags: 0,
    entryAddress,
    securityTxt: program.securityTxt,
    segments: [
      segment(1, 5, V0_TEXT_ADDRESS, text.length, 4096),
      segment(1, 4, rodataAddress, end - rodataAddress, 4096),
      segment(2, 6, dynamicAddress, dynamicSize, 8),
    ],
    sections: [
      section(".text", 1, 6, V0_TEXT_ADDRESS, text),
      section(".rodata", 1, 2, rodataAddress, rodata, 16),
      { ...section(".dynamic", 6, 3, dynamicAddress, dynamic), link: 5, entrySize: 16 },
      { ...section(".dynsym", 11, 2, symbolsAddress, symbols), link: 5, entrySize: 24 },
      section(".dynstr", 3, 2, namesAddress, names.bytes, 1),
      { ...section(".rel.dyn", 9, 2, relocationsAddress, relocationBytes), link: 4, entrySize: 16 },
    ],
  });
};
