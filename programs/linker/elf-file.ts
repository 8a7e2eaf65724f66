import { alignUp, concat, packed, stringTable } from "./elf-bytes.ts";

/** Sizes of the headers of an ELF64 file, in bytes (ELF-64 specification). */
export const FILE_HEADER_SIZE = 64;
export const SEGMENT_HEADER_SIZE = 56;
const SECTION_HEADER_SIZE = 64;

/** One entry of the program header table; `address` is where the loader puts `size` bytes from `offset` on. */
export type Segment = {
  readonly type: number;
  readonly flags: number;
  readonly offset: number;
  readonly address: number;
  readonly size: number;
  readonly alignment: number;
};

/** One section; `offset` counts from the file's start, `address` is 0 for what is not loaded. */
export type Section = {
  readonly name: string;
  readonly type: number;
  readonly flags: number;
  readonly offset: number;
  readonly address: number;
  readonly bytes: Uint8Array;
  readonly alignment: number;
  readonly link?: number;
  readonly entrySize?: number;
};

/** Where a text lies in memory that says whom to tell of a weakness, and how many bytes it has. */
export type SecurityTxt = { readonly address: number; readonly length: number };

/** What the two formats have in common: the sections, with their names and headers behind them. */
export type ElfFile = {
  /** The SBPF version, 0 or 3. */
  readonly flags: number;
  readonly entryAddress: number;
  readonly segments: ReadonlyArray<Segment>;
  /** In the order of the file, each at its offset. */
  readonly sections: ReadonlyArray<Section>;
  readonly securityTxt: SecurityTxt | undefined;
};

/**
 * The section that leads tools to the text: its address and length (README of solana-security-txt, "Additional ELF
 * Section").
 */
const securitySection = ({ address, length }: SecurityTxt, offset: number): Section => ({
  name: ".security.txt",
  type: 1,
  flags: 0,
  offset,
  address: 0,
  bytes: packed([8, address], [8, length]),
  alignment: 8,
});

const endOf = (sections: ReadonlyArray<Section>): number =>
  Math.max(...sections.map(({ offset, bytes }) => offset + bytes.length));

/** The bytes of a shared object for BPF, ELF64 LE, which end in 0x0a. */
export const writeElfFile = (elf: ElfFile): Uint8Array => {
  const { flags, entryAddress, segments, securityTxt } = elf;
  const content =
    securityTxt === undefined
      ? elf.sections
      : [...elf.sections, securitySection(securityTxt, alignUp(endOf(elf.sections), 8))];
  const names = stringTable([...content.map(({ name }) => name), ".shstrtab"]);
  const end = endOf(content);
  const nameSection = { name: ".shstrtab", type: 3, flags: 0, offset: end, address: 0 };
  const all: ReadonlyArray<Section> = [
    ...content,
    { ...nameSection, bytes: names.bytes, alignment: 1 },
  ];
  const tableAt = alignUp(end + names.bytes.length, 8);
  const tableEnd = tableAt + (all.length + 1) * SECTION_HEADER_SIZE;
  const file = new Uint8Array(tableEnd + 1);
  // A deployed program is followed by zero bytes. A file that does not end in one can be told from them, so that its
  // hash can be computed from the account; the loader reads nothing behind the section table.
  file[tableEnd] = 0x0a;
  file.set(
    concat([
      Uint8Array.of(0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0),
      // ET_DYN, EM_BPF
      packed([2, 3], [2, 247], [4, 1], [8, entryAddress], [8, FILE_HEADER_SIZE]),
      packed([8, tableAt], [4, flags], [2, FILE_HEADER_SIZE], [2, SEGMENT_HEADER_SIZE]),
      packed([2, segments.length], [2, SECTION_HEADER_SIZE], [2, all.length + 1], [2, all.length]),
      ...segments.map((each) =>
        packed(
          [4, each.type],
          [4, each.flags],
          [8, each.offset],
          [8, each.address],
          [8, each.address],
          [8, each.size],
          [8, each.size],
          [8, each.alignment],
        ),
      ),
    ]),
  );
  all.forEach((section, i) => {
    file.set(section.bytes, section.offset);
    file.set(
      packed(
        [4, names.offsets[i] ?? 0],
        [4, section.type],
        [8, section.flags],
        [8, section.address],
        [8, section.offset],
        [8, section.bytes.length],
        [4, section.link ?? 0],
        [4, 0],
        [8, section.alignment],
        [8, section.entrySize ?? 0],
      ),
      tableAt + (i + 1) * SECTION_HEADER_SIZE,
    );
  });
  return file;
};
