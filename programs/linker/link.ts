import { type ElfObject, type ObjectRelocation, readElfObject } from "./elf-object.ts";
import { alignUp, type DynamicRelocation, TEXT_ADDRESS, writeElfProgram } from "./elf-program.ts";

/** LLVM `ELFRelocs/BPF.def`. */
const R_BPF_64_64 = 1;
const R_BPF_64_32 = 10;
const R_BPF_64_RELATIVE = 8;

/** What a program may call: a name missing here is a compiler helper (memcpy, __multi3) that no loader would find. */
const SYSCALLS = new Set([
  "sol_get_clock_sysvar",
  "sol_get_rent_sysvar",
  "sol_get_return_data",
  "sol_invoke_signed_c",
  "sol_log_data",
  "sol_memcmp_",
  "sol_memcpy_",
  "sol_set_return_data",
  "sol_sha256",
  "sol_try_find_program_address",
]);

const isText = (name: string): boolean => name === ".text" || name.startsWith(".text.");
const isRodata = (name: string): boolean => name === ".rodata" || name.startsWith(".rodata.");

type Placement = { readonly addresses: ReadonlyMap<number, number>; readonly bytes: Uint8Array };

/** The sections whose name `wanted` accepts, one after another from `address` on. */
const place = (
  object: ElfObject,
  wanted: (name: string) => boolean,
  address: number,
): Placement => {
  const chosen = [...object.sections].filter(([, { name }]) => wanted(name));
  const addresses = new Map<number, number>();
  let at = address;
  for (const [number, { alignment, bytes }] of chosen) {
    at = alignUp(at, Math.max(alignment, 1));
    addresses.set(number, at);
    at += bytes.length;
  }
  const bytes = new Uint8Array(alignUp(at - address, 8));
  for (const [number, section] of chosen)
    bytes.set(section.bytes, (addresses.get(number) ?? 0) - address);
  return { addresses, bytes };
};

/**
 * Links one object file, compiled for `bpfel` by clang, into a program for the upgradeable loader
 * (SBPF v0). The same input gives the same bytes.
 *
 * @throws Error for writable globals, constants that hold addresses, an undefined symbol that is no
 *   syscall, or a missing `entrypoint`.
 */
export const link = (file: Uint8Array): Uint8Array => {
  const object = readElfObject(file);
  for (const { name } of object.sections.values())
    if (!isText(name) && !isRodata(name)) throw new Error(`section ${name} cannot be loaded`);
  const text = place(object, isText, TEXT_ADDRESS);
  const rodataAddress = alignUp(TEXT_ADDRESS + text.bytes.length, 16);
  const rodata = place(object, isRodata, rodataAddress);
  const addresses = new Map([...text.addresses, ...rodata.addresses]);
  const addressOf = (section: number): number => {
    const address = addresses.get(section);
    if (address === undefined) throw new Error("a symbol in a section that is not loaded");
    return address;
  };

  const syscalls: Array<string> = [];
  const syscallNumber = (name: string): number => {
    if (!SYSCALLS.has(name)) throw new Error(`${name} is no syscall`);
    if (!syscalls.includes(name)) syscalls.push(name);
    return syscalls.indexOf(name) + 1;
  };
  const view = new DataView(text.bytes.buffer);

  /** Patches one place and says what is left to the loader. Calls inside the program need nothing: clang resolved them. */
  const relocate = ({ section, offset, type, symbol }: ObjectRelocation): DynamicRelocation => {
    const address = addressOf(section) + offset;
    const at = address - TEXT_ADDRESS;
    if (type === R_BPF_64_32 && symbol.section === undefined)
      return { address, type, symbol: syscallNumber(symbol.name) };
    if (type !== R_BPF_64_64 || !text.addresses.has(section) || symbol.section === undefined)
      throw new Error(`relocation type ${type} of ${symbol.name || "a section"} is not supported`);
    // A constant's address, in the two halves of an lddw instruction; the addend is there already.
    const addend = view.getUint32(at + 4, true);
    view.setUint32(at + 4, addressOf(symbol.section) + symbol.value + addend, true);
    view.setUint32(at + 12, 0, true);
    return { address, type: R_BPF_64_RELATIVE, symbol: 0 };
  };

  const relocations = object.relocations.map(relocate);
  const entrypoint = object.symbols.find(({ name }) => name === "entrypoint");
  if (entrypoint?.section === undefined) throw new Error("no entrypoint");
  return writeElfProgram({
    text: text.bytes,
    rodata: rodata.bytes,
    rodataAddress,
    entryAddress: addressOf(entrypoint.section) + entrypoint.value,
    syscalls,
    relocations,
  });
};
