import { expect, test } from "bun:test";
import { join } from "node:path";
import { decodeProgramDataAccount } from "../../core/protocol/accounts/loader-v3.ts";
import { programDataAddress } from "../../core/protocol/addresses/addresses.ts";
import { binaryPath } from "../../programs/compile.ts";
import { LEDGER_VARIANT, LEDGER_VARIANTS } from "./fixture/ledger-variant.ts";
import { loaderRefusal } from "./fixture/loader-refusal.ts";
import * as s from "./fixture/settlement.ts";

const [usual, ...others] = LEDGER_VARIANTS;

/** A life of each kind; `bun run test:programs` runs every test on every variant. */
const SOME = ["release-escrow", "release-partial", "claim-refund"].map(
  (name) => `test/programs/custody/${name}.test.ts`,
);

// A run that chose a variant has chosen it for every test.
const chosen = LEDGER_VARIANT.elf !== usual?.elf || LEDGER_VARIANT.features !== usual.features;

test.skipIf(chosen).each(others)(
  "settlements are the same with $elf files and $features features",
  async ({ elf, features }) => {
    const run = Bun.spawn([process.execPath, "test", ...SOME], {
      cwd: join(import.meta.dir, "../.."),
      env: { ...process.env, PROGRAMS_ELF: elf, PROGRAMS_FEATURES: features },
      stdout: "ignore",
      stderr: "pipe",
    });
    const [status, report] = await Promise.all([run.exited, new Response(run.stderr).text()]);
    expect(report).toContain(" 0 fail\n");
    expect(Number(/^ *(\d+) pass$/m.exec(report)?.[1])).toBeGreaterThan(30);
    expect(status).toBe(0);
  },
);

test("a run has the files and features that it chose", async () => {
  const ledger = s.deployedLedger();
  for (const program of [s.deployment.custodyProgram, s.deployment.attestorProgram]) {
    const { elf } = decodeProgramDataAccount(ledger.account(programDataAddress(program))) ?? {};
    // e_flags of the ELF header
    expect(elf?.[48]).toBe(LEDGER_VARIANT.elf === "v3" ? 3 : 0);
  }
  // Only with all features does the loader refuse a new v0 program.
  const refusal = loaderRefusal(ledger, await Bun.file(binaryPath("custody", "v0")).bytes());
  expect(refusal !== undefined).toBe(LEDGER_VARIANT.features === "all");
});
