import { join, relative } from "node:path";
import { binaryHashes } from "./binary-hashes.ts";
import { pythonOf } from "./idl-python.ts";
import { typescriptOf } from "./idl-typescript.ts";
import { parseIdl } from "./idl.ts";
import {
  binaryPath,
  compileProgram,
  generateHeader,
  headerPath,
  PROGRAM_NAMES,
  SBPF_VERSIONS,
} from "./compile.ts";

const HELP = `Compiles the on-chain programs with clang-14, links them, and writes the tables that follow from their IDLs.

usage: bun run test:more build-programs

  --help   this text
`;

const [word] = process.argv.slice(2);
if (word === "--help" || word === "-h") {
  process.stdout.write(HELP);
  process.exit(0);
}
if (word !== undefined) {
  process.stderr.write(`Unknown option '${word}'; see --help\n`);
  process.exit(64);
}

// Each program includes both headers, so they come first.
for (const name of PROGRAM_NAMES) {
  await Bun.write(headerPath(name), await generateHeader(name));
  const idl = parseIdl(await Bun.file(join(import.meta.dir, `${name}.idl.json`)).text());
  const tables = join(import.meta.dir, "../core/protocol/generated", `${name}.ts`);
  await Bun.write(tables, typescriptOf(idl));
  if (name === "custody")
    await Bun.write(join(import.meta.dir, "../examples/escrow_terms.py"), pythonOf(idl));
}
for (const name of PROGRAM_NAMES)
  for (const version of SBPF_VERSIONS) {
    const binary = await compileProgram(name, version);
    await Bun.write(binaryPath(name, version), binary);
    console.log(`${relative(".", binaryPath(name, version))} ${binary.length} bytes`);
  }
await Bun.write(
  join(import.meta.dir, "../core/protocol/generated/program-hashes.ts"),
  await binaryHashes(),
);
