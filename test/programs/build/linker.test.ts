import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writableSigner } from "../../../core/domain/ledger/instruction.ts";
import { COMPILER, hasCompiler, SBPF_VERSIONS } from "../../../programs/compile.ts";
import { link, syscallHash } from "../../../programs/linker/link.ts";
import { elfSegments } from "../fixture/elf-segments.ts";
import { deployAs } from "../fixture/tampering.ts";
import { agent } from "../fixture/settlement.ts";
import { TestLedger } from "../fixture/test-ledger.ts";

test("a file that is not an object file is refused", () => {
  for (const version of SBPF_VERSIONS)
    expect(() => link(new Uint8Array(64), version)).toThrow("not a relocatable ELF file");
});

test.each([
  // The numbers of these names in the runtime's sources (rbpf `syscalls`, SIMD-0178).
  ["abort", 0xb6fc1a11],
  ["sol_log_", 0x207559bd],
  ["sol_memcpy_", 0x717cc4a3],
])("%s is the syscall with number %i", (name, number) => {
  expect(syscallHash(name)).toBe(number);
});

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "linker-"));
});
afterAll(() => rm(folder, { recursive: true }));

const compile = async (source: string, cpu = "v1"): Promise<Uint8Array> => {
  const [c, object] = [join(folder, "program.c"), join(folder, "program.o")];
  await Bun.write(c, source);
  const flags = [
    "-target",
    "bpfel",
    `-mcpu=${cpu}`,
    "-O2",
    "-ffreestanding",
    "-c",
    c,
    "-o",
    object,
  ];
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
    for (const version of SBPF_VERSIONS) expect(() => link(object, version)).toThrow(message);
  });

  test("the same object gives the same bytes", async () => {
    const object = await compile(`${ENTRYPOINT} { return *input; }`);
    for (const version of SBPF_VERSIONS)
      expect(link(object, version)).toEqual(link(object, version));
  });

  test("the first constant of a v3 program is not at address 0", async () => {
    const object = await compile(
      `static const char first[9] = "constant"; ${ENTRYPOINT} { return (unsigned long)first; }`,
    );
    const { rodata, text } = elfSegments(link(object, "v3"));
    // lddw r0, 16: opcode 0x18 and the address in the lower half.
    expect(text.slice(0, 8)).toEqual(Uint8Array.of(0x18, 0, 0, 0, 16, 0, 0, 0));
    expect(new TextDecoder().decode(rodata)).toBe(`${"\0".repeat(16)}constant${"\0".repeat(8)}`);
  });

  /**
   * 32-bit arithmetic whose result has bit 31 set and is then used as 64 bits: 0 when the VM computes the same as C.
   */
  const SUM = `${ENTRYPOINT} {
    unsigned int sum = *(unsigned int *)input + 0x7fffffffu;
    return (unsigned long)sum * 5 - 0x280000000ul;
  }`;

  /** Runs a v3 program on data that begins with a count of one account; its return value is the error, if any. */
  const run = (elf: Uint8Array) => {
    const ledger = new TestLedger("default");
    ledger.fund(agent.address);
    const programAddress = deployAs(ledger, "linked", elf);
    const accounts = [writableSigner(agent.address)];
    return ledger.send([{ programAddress, accounts, data: new Uint8Array() }], [agent]).refusal;
  };

  test("32-bit sums are refused, because the VM extends their sign and clang relies on zeros", async () => {
    const object = await compile(SUM, "v3");
    for (const version of SBPF_VERSIONS)
      expect(() => link(object, version)).toThrow("the VM extends the sign");
    expect(run(link(await compile(SUM, "v2"), "v3"))).toBeUndefined();
  });
});
