import {
  FILE_HEADER_SIZE,
  type SecurityTxt,
  SEGMENT_HEADER_SIZE,
  writeElfFile,
} from "./elf-file.ts";

/**
 * Where the VM maps constants and code of an SBPF v3 program (solana-sbpf `ebpf.rs`: MM_RODATA_START,
 * MM_BYTECODE_START).
 */
export const V3_RODATA_ADDRESS = 0;
export const V3_TEXT_ADDRESS = 2 ** 32;

/**
 * Zero bytes before the first constant. Constants are mapped at address 0, which C takes for no object at all: a
 * comparison with NULL would be false for the first one. 16 keeps every alignment that clang asks for.
 */
export const V3_RODATA_GAP = 16;

/**
 * A program linked for SBPF v3, before it becomes a file; constants begin with the gap, nothing is left to relocate.
 */
export type V3Program = {
  readonly text: Uint8Array;
  readonly rodata: Uint8Array;
  readonly entryAddress: number;
  readonly securityTxt?: SecurityTxt | undefined;
};

const [PF_X, PF_R] = [1, 4];

const part = (bytes: Uint8Array, offset: number, address: number) => ({
  type: 1,
  offset,
  address,
  bytes,
  size: bytes.length,
  alignment: 8,
});

/**
 * The shared object that the upgradeable loader accepts as an SBPF v3 program (solana-sbpf `elf.rs`,
 * load_with_strict_parser; SIMD-0189): two segments right behind the headers, constants and then code. The loader
 * reads no section; they are there for people's tools.
 */
export const writeElfV3 = (program: V3Program): Uint8Array => {
  const { text, rodata, entryAddress, securityTxt } = program;
  const rodataAt = FILE_HEADER_SIZE + 2 * SEGMENT_HEADER_SIZE;
  const constants = part(rodata, rodataAt, V3_RODATA_ADDRESS);
  const code = part(text, rodataAt + rodata.length, V3_TEXT_ADDRESS);
  return writeElfFile({
    flags: 3,
    entryAddress,
    securityTxt,
    segments: [
      { ...constants, flags: PF_R },
      { ...code, flags: PF_X },
    ],
    sections: [
      { ...constants, name: ".rodata", flags: 2 },
      { ...code, name: ".text", flags: 6 },
    ],
  });
};
