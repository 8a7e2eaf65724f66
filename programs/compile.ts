import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { headerOf } from "./idl-header.ts";
import { parseIdl } from "./idl.ts";
import { link, type SbpfVersion } from "./linker/link.ts";

/** The two on-chain programs, by the name of their source, IDL and binary in this folder. */
export const PROGRAM_NAMES = ["custody", "attestor"] as const;
export type ProgramName = (typeof PROGRAM_NAMES)[number];

/** The formats that each program is built in: v0 loads everywhere today, v3 is what clusters go over to. */
export const SBPF_VERSIONS = ["v0", "v3"] as const satisfies ReadonlyArray<SbpfVersion>;

/**
 * Another clang compiles the same sources to other bytes, so the committed binaries are those of this one (Debian
 * 12's).
 */
export const COMPILER = { command: "clang-14", version: "14.0.6" } as const;

/** Whether that very compiler is on this machine. */
export const hasCompiler = (): boolean =>
  Bun.which(COMPILER.command) !== null &&
  Bun.spawnSync([COMPILER.command, "--version"]).stdout.toString().includes(COMPILER.version);

/**
 * What clang may use for each version. SBPF v0 has no jumps but those of `v1`. For v3 it is `v2`, not `v3`: the
 * latter's 32-bit sums mean another thing to the VM (see SIGN_EXTENDED in link.ts).
 */
const CPU: Readonly<Record<SbpfVersion, string>> = { v0: "v1", v3: "v2" };

/**
 * No libc, no jump tables and no unwind tables, for none of which the loader has a place; aliasing is not strict, since
 * account data is read in place.
 */
const FLAGS =
  "-target bpfel -O2 -std=c11 -ffreestanding -fno-builtin -fno-strict-aliasing -fno-jump-tables " +
  "-fno-unwind-tables -fno-asynchronous-unwind-tables -fno-ident -Wall -Wextra -Werror";

const here = import.meta.dir;

/** Where a program's committed binary is: `custody.so` for v0, which the local ledger has, `custody.v3.so` for v3. */
export const binaryPath = (name: ProgramName, version: SbpfVersion = "v0"): string =>
  join(here, version === "v0" ? `${name}.so` : `${name}.${version}.so`);

/** Where the C header generated from a program's IDL is. */
export const headerPath = (name: ProgramName): string => join(here, "generated", `${name}.h`);

/** The text of the C header that a program's IDL gives. */
export const generateHeader = async (name: ProgramName): Promise<string> =>
  headerOf(parseIdl(await Bun.file(join(here, `${name}.idl.json`)).text()));

/**
 * Compiles and links a program from its source and the generated headers as they are. @throws Error with clang's
 * message.
 */
export const compileProgram = (name: ProgramName, version: SbpfVersion): Promise<Uint8Array> =>
  compileSource(join(here, `${name}.c`), version);

/** Compiles and links one C file that includes all the others it needs. @throws Error with clang's message. */
export const compileSource = async (source: string, version: SbpfVersion): Promise<Uint8Array> =>
  link(await compileObject(source, version), version);

/** The object file that clang makes of one C file. @throws Error with clang's message. */
export const compileObject = async (source: string, version: SbpfVersion): Promise<Uint8Array> => {
  const folder = await mkdtemp(join(tmpdir(), "compile-program-"));
  try {
    const object = join(folder, "program.o");
    const flags = [`-mcpu=${CPU[version]}`, ...FLAGS.split(" ")];
    const clang = Bun.spawn([COMPILER.command, ...flags, "-c", source, "-o", object], {
      stderr: "pipe",
    });
    const [status, message] = await Promise.all([clang.exited, new Response(clang.stderr).text()]);
    if (status !== 0) throw new Error(message);
    return await Bun.file(object).bytes();
  } finally {
    await rm(folder, { recursive: true });
  }
};
