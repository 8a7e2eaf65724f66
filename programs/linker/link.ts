import { alignUp } from "./elf-bytes.ts";
import { type ElfObject, type ObjectRelocation, readElfObject } from "./elf-object.ts";
import { type DynamicRelocation, V0_TEXT_ADDRESS, writeElfV0 } from "./elf-v0.ts";
import { V3_RODATA_ADDRESS, V3_RODATA_GAP, V3_TEXT_ADDRESS, writeElfV3 } from "./elf-v3.ts";

/**
 * The number by which an SBPF v3 program calls a syscall, u32: MurmurHash3 x86_32 of its name with seed 0
 * (solana-sbpf `ebpf.rs`, hash_symbol_name; SIMD-0178).
 */
export const syscallHash = (name: string): number => Bun.hash.murmur32v3(name, 0);

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
 * Instructions that clang and the VM understand differently: clang counts on the upper half of a 32-bit sum, difference
 * or product to be zero, but the VM extends its sign (solana-sbpf `interpreter.rs`, sign_extension). By their first
 * byte.
 */
const SIGN_EXTENDED = new Set([0x04, 0x0c, 0x14, 0x1c, 0x24, 0x2c]);
const LDDW = 0x18;

const refuseSignExtension = (text: Uint8Array): void => {
  for (let at = 0; at < text.length; at += text[at] === LDDW ? 16 : 8)
    if (SIGN_EXTENDED.has(text[at] ?? 0))
      throw new Error(
        `the VM extends the sign of 32-bit instruction ${at / 8}: compile without them`,
      );
};

/** The formats that a program is linked to, by the version that the loader calls them. */
export type SbpfVersion = "v0" | "v3";

/**
 * Links one object file, compiled for `bpfel` by clang, into a program for the upgradeable loader. v0 leaves addresses
 * of constants and syscalls to the loader, v3 leaves nothing. The same input gives the same bytes.
 *
 * @throws Error for writable globals, constants that hold addresses, an undefined symbol that is no
 *   syscall, 32-bit sums, or a missing `entrypoint`.
 */
export const link = (file: Uint8Array, version: SbpfVersion): Uint8Array => {
  const object = readElfObject(file);
  for (const { name } of object.sections.values())
    if (!isText(name) && !isRodata(name)) throw new Error(`section ${name} cannot be loaded`);
  const textAddress = version === "v0" ? V0_TEXT_ADDRESS : V3_TEXT_ADDRESS;
  const text = place(object, isText, textAddress);
  refuseSignExtension(text.bytes);
  const rodataAddress =
    version === "v0"
      ? alignUp(textAddress + text.bytes.length, 16)
      : V3_RODATA_ADDRESS + V3_RODATA_GAP;
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

  /**
   * Patches one place and says what a v0 loader does there. Calls inside the program need nothing: clang resolved them.
   */
  const relocate = ({ section, offset, type, symbol }: ObjectRelocation): DynamicRelocation => {
    const address = addressOf(section) + offset;
    const at = address - textAddress;
    if (type === R_BPF_64_32 && symbol.section === undefined) {
      const number = syscallNumber(symbol.name);
      if (version === "v3") {
        // A source register of 0 makes the call a syscall; clang writes 1, a call inside the program.
        view.setUint8(at + 1, 0);
        view.setUint32(at + 4, syscallHash(symbol.name), true);
      }
      return { address, type, symbol: number };
    }
    if (type !== R_BPF_64_64 || !text.addresses.has(section) || symbol.section === undefined)
      throw new Error(`relocation type ${type} of ${symbol.name || "a section"} is not supported`);
    // A constant's address, in the two halves of an lddw instruction; the addend is there already.
    const target = addressOf(symbol.section) + symbol.value + view.getUint32(at + 4, true);
    view.setUint32(at + 4, target % 2 ** 32, true);
    view.setUint32(at + 12, Math.floor(target / 2 ** 32), true);
    return { address, type: R_BPF_64_RELATIVE, symbol: 0 };
  };

  const relocations = object.relocations.map(relocate);
  const entrypoint = object.symbols.find(({ name }) => name === "entrypoint");
  if (entrypoint?.section === undefined) throw new Error("no entrypoint");
  const entryAddress = addressOf(entrypoint.section) + entrypoint.value;
  const described = object.symbols.find(({ name }) => name === "security_txt");
  const securityTxt =
    described?.section === undefined
      ? undefined
      : { address: addressOf(described.section) + described.value, length: described.size };
  if (version === "v3") {
    const withGap = new Uint8Array(V3_RODATA_GAP + rodata.bytes.length);
    withGap.set(rodata.bytes, V3_RODATA_GAP);
    return writeElfV3({ text: text.bytes, rodata: withGap, entryAddress, securityTxt });
  }
  return writeElfV0({
    text: text.bytes,
    rodata: rodata.bytes,
    rodataAddress,
    entryAddress,
    securityTxt,
    syscalls,
    relocations,
  });
};
