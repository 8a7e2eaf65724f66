import { join } from "node:path";
import { typescriptOf } from "./idl-typescript.ts";
import { parseIdl } from "./idl.ts";
import {
  binaryPath,
  compileProgram,
  generateHeader,
  headerPath,
  PROGRAM_NAMES,
} from "./compile.ts";

// Each program includes both headers, so they come first.
for (const name of PROGRAM_NAMES) {
  await Bun.write(headerPath(name), await generateHeader(name));
  const idl = parseIdl(await Bun.file(join(import.meta.dir, `${name}.idl.json`)).text());
  const tables = join(import.meta.dir, "../core/protocol/generated", `${name}.ts`);
  await Bun.write(tables, typescriptOf(idl));
}
for (const name of PROGRAM_NAMES) {
  const binary = await compileProgram(name);
  await Bun.write(binaryPath(name), binary);
  console.log(`programs/${name}.so ${binary.length} bytes`);
}
