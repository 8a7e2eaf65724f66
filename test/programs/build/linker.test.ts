import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { COMPILER, hasCompiler } from "../../../programs/compile.ts";
import { link } from "../../../programs/linker/link.ts";

test("what is no object file is refused", () => {
  expect(() => link(new Uint8Array(64))).toThrow("not a relocatable ELF file");
});

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "linker-"));
});
afterAll(() => rm(folder, { recursive: true }));

const compile = async (source: string): Promise<Uint8Array> => {
  const [c, object] = [join(folder, "program.c"), join(folder, "program.o")];
  await Bun.write(c, source);
  const flags = ["-target", "bpfel", "-mcpu=v1", "-O2", "-ffreestanding", "-c", c, "-o", object];
  Bun.spawnSync([COMPILER.command, ...flags], { stderr: "inherit" });
  return Bun.file(object).bytes();
};

const ENTRYPOINT = "unsigned long entrypoint(unsigned char *input)";

describe.skipIf(!hasCompiler())(`of an object file (needs clang ${COMPILER.version})`, () => {
  test.each([
    ["a writable global", `long count; ${ENTRYPOINT} { return ++count; }`, "no writable globals"],
    ["an initialised global", `long count = 1; ${ENTRYPOINT} { return ++count; }`, "section .data"],
    [
      "a function no loader has",
      `long memcpy2(void); ${ENTRYPOINT} { return memcpy2(); }`,
      "memcpy2 is no syscall",
    ],
    [
      "a table of addresses",
      `static const char *const name[] = {"a", "b"}; ${ENTRYPOINT} { return (unsigned long)name[*input]; }`,
      "relocation type 2",
    ],
    ["no entrypoint", "long other(void) { return 0; }", "no entrypoint"],
  ])("%s is refused", async (_, source, message) => {
    const object = await compile(source);
    expect(() => link(object)).toThrow(message);
  });

  test("the same object gives the same bytes", async () => {
    const object = await compile(`${ENTRYPOINT} { return *input; }`);
    expect(link(object)).toEqual(link(object));
  });
});
