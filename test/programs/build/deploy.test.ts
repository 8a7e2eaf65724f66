import { expect, test } from "bun:test";
import { binaryPath, PROGRAM_NAMES } from "../../../programs/compile.ts";
import { LEDGER_VARIANTS } from "../fixture/ledger-variant.ts";
import { loaderRefusal } from "../fixture/loader-refusal.ts";
import { TestLedger } from "../fixture/test-ledger.ts";

const REFUSED = "invalid account data for instruction";

const cases = PROGRAM_NAMES.flatMap((name) =>
  LEDGER_VARIANTS.map(({ elf, features }) => [name, elf, features] as const),
);

test.each(cases)("the loader's answer to %s %s with %s features", async (name, elf, features) => {
  const file = await Bun.file(binaryPath(name, elf)).bytes();
  // SIMD-0500 forbids new v0 programs. Deployed ones continue to run, as the variants test.
  const refused = elf === "v0" && features === "all";
  expect(loaderRefusal(new TestLedger(features), file)).toBe(refused ? REFUSED : undefined);
});

test("the loader refuses a file that is cut short, or of a version that does not exist", async () => {
  for (const elf of ["v0", "v3"] as const) {
    const file = await Bun.file(binaryPath("custody", elf)).bytes();
    const refusal = (bytes: Uint8Array) => loaderRefusal(new TestLedger("default"), bytes);
    // The version is in e_flags, at byte 48. An unknown one is refused too.
    expect(refusal(file.slice(0, 200))).toBe(REFUSED);
    expect(refusal(file.with(48, 9))).toBe(REFUSED);
  }
});
