import { expect, test } from "bun:test";
import { decodeProgramDataAccount } from "../../core/protocol/accounts/loader-v3.ts";
import { programDataAddress } from "../../core/protocol/addresses/addresses.ts";
import { binaryPath } from "../../programs/compile.ts";
import { LEDGER_VARIANT } from "./fixture/ledger-variant.ts";
import { loaderRefusal } from "./fixture/loader-refusal.ts";
import * as s from "./fixture/settlement.ts";

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
