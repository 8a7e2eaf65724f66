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

const FILE_HEADER_SIZE = 64;
const SEGMENT_HEADER_SIZE = 56;
const SECTION_HEADER_SIZE = 64;

/** Where `.text` begins in every program, in bytes from the file's start and in memory alike. */
export const TEXT_ADDRESS = FILE_HEADER_SIZE + 3 * SEGMENT_HEADER_SIZE;

/** What the loader patches when it loads: types R_BPF_64_RELATIVE (8) and R_BPF_64_32 (10, a syscall). */
export type DynamicRelocation = {
  readonly address: number;
  readonly type: 8 | 10;
  /** Number of the syscall in `syscalls` plus 1, or 0. */
  readonly symbol: number;
};

/** A linked program, before it becomes a file. */
export type LinkedProgram = {
  readonly text: Uint8Array;
  readonly rodata: Uint8Array;
  readonly rodataAddress: number;
  readonly entryAddress: number;
  readonly syscalls: ReadonlyArray<string>;
  readonly relocations: ReadonlyArray<DynamicRelocation>;
};

type Section = {
  readonly name: string;
  readonly type: number;
  readonly flags: number;
  readonly address: number;
  readonly bytes: Uint8Array;
  readonly link: number;
  readonly entrySize: number;
};

/** Numbers written one after another, each in 1, 2, 4 or 8 little-endian bytes. */
const packed = (...fields: ReadonlyArray<readonly [size: 1 | 2 | 4 | 8, value: number]>) => {
  const bytes = new Uint8Array(fields.reduce((sum, [size]) => sum + size, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const [size, value] of fields) {
    if (size === 1) view.setUint8(at, value);
    else if (size === 2) view.setUint16(at, value, true);
    else if (size === 4) view.setUint32(at, value, true);
    else view.setBigUint64(at, BigInt(value), true);
    at += size;
  }
  return bytes;
};

const concat = (parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
};

/** Zero-terminated names, the empty one first, and where each begins. */
const stringTable = (names: ReadonlyArray<string>) => {
  const parts = names.map((name) => new TextEncoder().encode(`${name}\0`));
  let at = 1;
  const offsets = parts.map((part) => {
    at += part.length;
    return at - part.length;
  });
  return { bytes: concat([Uint8Array.of(0), ...parts]), offsets };
};

/** `value` rounded up to a multiple of `alignment`. */
export const alignUp = (value: number, alignment: number): number =>
  Math.ceil(value / alignment) * alignment;

/**
 * The shared object that the upgradeable loader accepts as an SBPF v0 program (solana-sbpf `elf.rs`):
 * every address equals its file offset, and the dynamic section leads to relocations and symbols.
 */
export const writeElfProgram = (program: LinkedProgram): Uint8Array => {
  const { text, rodata, rodataAddress, syscalls, relocations } = program;
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

  const section = (name: string, type: number, flags: number, address: number, bytes: Uint8Array) =>
    ({ name, type, flags, address, bytes, link: 0, entrySize: 0 }) satisfies Section;
  const sections: ReadonlyArray<Section> = [
    section(".text", 1, 6, TEXT_ADDRESS, text),
    section(".rodata", 1, 2, rodataAddress, rodata),
    { ...section(".dynamic", 6, 3, dynamicAddress, dynamic), link: 5, entrySize: 16 },
    { ...section(".dynsym", 11, 2, symbolsAddress, symbols), link: 5, entrySize: 24 },
    section(".dynstr", 3, 2, namesAddress, names.bytes),
    { ...section(".rel.dyn", 9, 2, relocationsAddress, relocationBytes), link: 4, entrySize: 16 },
  ];
  const sectionNames = stringTable([...sections.map(({ name }) => name), ".shstrtab"]);
  const all = [...sections, section(".shstrtab", 3, 0, end, sectionNames.bytes)];
  const tableAddress = alignUp(end + sectionNames.bytes.length, 8);

  const tableEnd = tableAddress + (all.length + 1) * SECTION_HEADER_SIZE;
  const file = new Uint8Array(tableEnd + 1);
  // A deployed program is followed by zero bytes. A file that does not end in one can be told from them, so that its
  // hash can be computed from the account; the loader reads nothing behind the section table.
  file[tableEnd] = 0x0a;
  const segment = (type: number, flags: number, from: number, to: number): Uint8Array =>
    packed(
      [4, type],
      [4, flags],
      [8, from],
      [8, from],
      [8, from],
      [8, to - from],
      [8, to - from],
      [8, type === 1 ? 4096 : 8],
    );
  file.set(
    concat([
      Uint8Array.of(0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0),
      // ET_DYN, EM_BPF; flags 0 is SBPF v0.
      packed([2, 3], [2, 247], [4, 1], [8, program.entryAddress], [8, FILE_HEADER_SIZE]),
      packed([8, tableAddress], [4, 0], [2, FILE_HEADER_SIZE], [2, SEGMENT_HEADER_SIZE], [2, 3]),
      packed([2, SECTION_HEADER_SIZE], [2, all.length + 1], [2, all.length]),
      segment(1, 5, TEXT_ADDRESS, TEXT_ADDRESS + text.length),
      segment(1, 4, rodataAddress, end),
      segment(2, 6, dynamicAddress, dynamicAddress + dynamicSize),
    ]),
  );
  all.forEach(({ name, type, flags, address, bytes, link, entrySize }, i) => {
    file.set(bytes, address);
    const nameAt = sectionNames.offsets[i] ?? 0;
    const alignment = name === ".rodata" ? 16 : type === 3 ? 1 : 8;
    file.set(
      packed(
        [4, nameAt],
        [4, type],
        [8, flags],
        [8, flags & 2 ? address : 0],
        [8, address],
        [8, bytes.length],
        [4, link],
        [4, 0],
        [8, alignment],
        [8, entrySize],
      ),
      tableAddress + (i + 1) * SECTION_HEADER_SIZE,
    );
  });
  return file;
};
