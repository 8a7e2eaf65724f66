import { expect, test } from "bun:test";
import { join } from "node:path";
import { binaryHashes } from "../../../programs/binary-hashes.ts";
import { pythonOf } from "../../../programs/idl-python.ts";
import { typescriptOf } from "../../../programs/idl-typescript.ts";
import { parseIdl } from "../../../programs/idl.ts";
import {
  binaryPath,
  COMPILER,
  compileObject,
  compileProgram,
  generateHeader,
  hasCompiler,
  headerPath,
  PROGRAM_NAMES,
  SBPF_VERSIONS,
} from "../../../programs/compile.ts";
import { readElfObject } from "../../../programs/linker/elf-object.ts";
import { V3_RODATA_GAP } from "../../../programs/linker/elf-v3.ts";
import { elfSegments } from "../fixture/elf-segments.ts";

const compilerMissing = !hasCompiler();

test("the committed hashes are those of the committed binaries", async () => {
  const at = new URL("../../../core/protocol/generated/program-hashes.ts", import.meta.url);
  expect(await Bun.file(at).text()).toBe(await binaryHashes());
});

test("the committed Python module of the examples is the one generated from custody's IDL", async () => {
  const idl = await Bun.file(new URL("../../../programs/custody.idl.json", import.meta.url)).text();
  const at = new URL("../../../examples/escrow_terms.py", import.meta.url);
  expect(await Bun.file(at).text()).toBe(pythonOf(parseIdl(idl)));
});

for (const name of PROGRAM_NAMES) {
  test(`${name}: the committed header is the one generated from the IDL`, async () => {
    expect(await Bun.file(headerPath(name)).text()).toBe(await generateHeader(name));
  });

  test(`${name}: the committed TypeScript tables are those generated from the IDL`, async () => {
    const at = new URL(`../../../core/protocol/generated/${name}.ts`, import.meta.url);
    const idl = await Bun.file(
      new URL(`../../../programs/${name}.idl.json`, import.meta.url),
    ).text();
    expect(await Bun.file(at).text()).toBe(typescriptOf(parseIdl(idl)));
  });

  for (const version of SBPF_VERSIONS) {
    test(`${name} ${version}: the binary does not end with a zero byte, so that its hash can be computed from the deployed account`, async () => {
      const binary = await Bun.file(binaryPath(name, version)).bytes();
      expect(binary.at(-1)).not.toBe(0);
    });

    test.skipIf(compilerMissing)(
      `${name} ${version}: the sources compile to the committed binary, byte for byte (needs clang ${COMPILER.version})`,
      async () => {
        const [built, committed] = await Promise.all([
          compileProgram(name, version),
          Bun.file(binaryPath(name, version)).bytes(),
        ]);
        expect(Bun.SHA256.hash(built, "hex")).toBe(Bun.SHA256.hash(committed, "hex"));
      },
    );
  }

  test.skipIf(compilerMissing)(`${name} v3: no constant has address 0`, async () => {
    const source = join(import.meta.dir, `../../../programs/${name}.c`);
    const { relocations } = readElfObject(await compileObject(source, "v3"));
    const { rodata, text } = elfSegments(await Bun.file(binaryPath(name, "v3")).bytes());
    expect(rodata.slice(0, V3_RODATA_GAP).every((byte) => byte === 0)).toBe(true);
    // The address of each constant in the binary (relocation R_BPF_64_64).
    const view = new DataView(text.buffer, text.byteOffset);
    const named = relocations
      .filter(({ type }) => type === 1)
      .map(({ offset }) => view.getUint32(offset + 4, true));
    expect(named.length).toBeGreaterThan(5);
    expect(Math.min(...named)).toBeGreaterThanOrEqual(V3_RODATA_GAP);
    expect(Math.max(...named)).toBeLessThan(rodata.length);
  });
}
