/** ELF section types and flags, and BPF relocation types (ELF-64 specification; LLVM `ELFRelocs/BPF.def`). */
const SHT_SYMTAB = 2;
const SHT_REL = 9;
const SHT_NOBITS = 8;
const SHF_ALLOC = 2;

/** One section of an object file that would be loaded. */
type ObjectSection = {
  readonly name: string;
  readonly alignment: number;
  readonly bytes: Uint8Array;
};

/** A symbol; `section` is undefined when it is not defined in this object. */
type ObjectSymbol = {
  readonly name: string;
  readonly section: number | undefined;
  /** Bytes from the start of its section. */
  readonly value: number;
  /** Bytes that it takes. */
  readonly size: number;
};

/** One place to patch: `offset` bytes into section `section`. */
export type ObjectRelocation = {
  readonly section: number;
  readonly offset: number;
  readonly type: number;
  readonly symbol: ObjectSymbol;
};

/** What a linker needs of a relocatable object; sections are keyed by their number in the file. */
export type ElfObject = {
  readonly sections: ReadonlyMap<number, ObjectSection>;
  readonly symbols: ReadonlyArray<ObjectSymbol>;
  readonly relocations: ReadonlyArray<ObjectRelocation>;
};

/** The loaded sections, symbols and relocations of an ELF64 LE relocatable file. @throws Error if it is none. */
export const readElfObject = (file: Uint8Array): ElfObject => {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const u64 = (at: number): number => Number(view.getBigUint64(at, true));
  if (view.getUint32(0) !== 0x7f454c46 || view.getUint16(16, true) !== 1)
    throw new Error("not a relocatable ELF file");
  const textAt = (at: number): string =>
    new TextDecoder().decode(file.subarray(at, file.indexOf(0, at)));

  const table = u64(40);
  const headers = Array.from({ length: view.getUint16(60, true) }, (_, i) => {
    const at = table + i * view.getUint16(58, true);
    return {
      nameAt: view.getUint32(at, true),
      type: view.getUint32(at + 4, true),
      flags: u64(at + 8),
      offset: u64(at + 24),
      size: u64(at + 32),
      link: view.getUint32(at + 40, true),
      info: view.getUint32(at + 44, true),
      alignment: u64(at + 48),
    };
  });
  const names = headers[view.getUint16(62, true)];
  const symbolTable = headers.find(({ type }) => type === SHT_SYMTAB);
  if (names === undefined || symbolTable === undefined) throw new Error("no symbols");

  const sections = new Map<number, ObjectSection>();
  headers.forEach((header, i) => {
    const name = textAt(names.offset + header.nameAt);
    if ((header.flags & SHF_ALLOC) === 0 || header.size === 0) return;
    if (header.type === SHT_NOBITS) throw new Error(`${name}: programs have no writable globals`);
    const bytes = file.slice(header.offset, header.offset + header.size);
    sections.set(i, { name, alignment: header.alignment, bytes });
  });

  const strings = headers[symbolTable.link]?.offset ?? 0;
  const symbols = Array.from({ length: symbolTable.size / 24 }, (_, i): ObjectSymbol => {
    const at = symbolTable.offset + i * 24;
    const section = view.getUint16(at + 6, true);
    return {
      name: textAt(strings + view.getUint32(at, true)),
      section: section === 0 ? undefined : section,
      value: u64(at + 8),
      size: u64(at + 16),
    };
  });

  const relocations = headers
    .filter(({ type, info }) => type === SHT_REL && sections.has(info))
    .flatMap(({ offset, size, info }) =>
      Array.from({ length: size / 16 }, (_, i): ObjectRelocation => {
        const at = offset + i * 16;
        const symbol = symbols[view.getUint32(at + 12, true)];
        if (symbol === undefined) throw new Error("a relocation without symbol");
        return { section: info, offset: u64(at), type: view.getUint32(at + 8, true), symbol };
      }),
    );
  return { sections, symbols, relocations };
};
