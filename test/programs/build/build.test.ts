import { expect, test } from "bun:test";
import { typescriptOf } from "../../../programs/idl-typescript.ts";
import { parseIdl } from "../../../programs/idl.ts";
import {
  binaryPath,
  COMPILER,
  compileProgram,
  generateHeader,
  hasCompiler,
  headerPath,
  PROGRAM_NAMES,
} from "../../../programs/compile.ts";

const compilerMissing = !hasCompiler();

for (const name of PROGRAM_NAMES) {
  test(`${name}: the committed header is what the IDL gives`, async () => {
    expect(await Bun.file(headerPath(name)).text()).toBe(await generateHeader(name));
  });

  test(`${name}: the committed TypeScript tables are what the IDL gives`, async () => {
    const at = new URL(`../../../core/protocol/generated/${name}.ts`, import.meta.url);
    const idl = await Bun.file(
      new URL(`../../../programs/${name}.idl.json`, import.meta.url),
    ).text();
    expect(await Bun.file(at).text()).toBe(typescriptOf(parseIdl(idl)));
  });

  test(`${name}: the binary ends in no zero byte, so that its hash can be had from the deployed account`, async () => {
    const binary = await Bun.file(binaryPath(name)).bytes();
    expect(binary.at(-1)).not.toBe(0);
  });

  test.skipIf(compilerMissing)(
    `${name}: the sources compile to the committed binary, byte for byte (needs clang ${COMPILER.version})`,
    async () => {
      const [built, committed] = await Promise.all([
        compileProgram(name),
        Bun.file(binaryPath(name)).bytes(),
      ]);
      expect(Bun.SHA256.hash(built, "hex")).toBe(Bun.SHA256.hash(committed, "hex"));
    },
  );
}
