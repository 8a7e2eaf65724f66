import {
  binaryPath,
  compileProgram,
  generateHeader,
  headerPath,
  PROGRAM_NAMES,
} from "./compile.ts";

// Each program includes both headers, so they come first.
for (const name of PROGRAM_NAMES) await Bun.write(headerPath(name), await generateHeader(name));
for (const name of PROGRAM_NAMES) {
  const binary = await compileProgram(name);
  await Bun.write(binaryPath(name), binary);
  console.log(`programs/${name}.so ${binary.length} bytes`);
}
