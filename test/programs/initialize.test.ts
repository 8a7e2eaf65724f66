import { describe, expect, test } from "bun:test";
import { AccountRole } from "../../core/domain/ledger/instruction.ts";
import {
  custodyConfigAddress,
  programDataAddress,
  registryAddress,
} from "../../core/protocol/addresses/addresses.ts";
import { initializeRegistryInstruction } from "../../core/protocol/instructions/attestor-instructions.ts";
import {
  decodeAttestorRegistryAccount,
  decodeCustodyConfigAccount,
} from "../../core/protocol/accounts/settings-accounts.ts";
import { initializeCustodyInstruction } from "../../core/protocol/instructions/custody-instructions.ts";
import { SYSTEM_PROGRAM } from "../../core/protocol/addresses/well-known-addresses.ts";
import * as s from "./fixture/settlement.ts";
import { forgeProgramData, nowhere, withAccount, withRole } from "./fixture/tampering.ts";

const by = { payer: s.upgradeAuthority.address, upgradeAuthority: s.upgradeAuthority.address };

/** Both programs are initialised by the same rules, under error codes of their own. */
const programs = [
  {
    name: "custody",
    program: s.deployment.custodyProgram,
    counterpart: "attestor_program",
    state: "config",
    address: custodyConfigAddress(s.deployment).address,
    instruction: initializeCustodyInstruction(s.deployment, { ...by, genesisHash: s.genesisHash }),
    base: 6000,
    wrongState: "6007 WrongConfig",
    wrongCounterpart: "6008 WrongAttestorProgram",
  },
  {
    name: "attestor",
    program: s.deployment.attestorProgram,
    counterpart: "custody_program",
    state: "registry",
    address: registryAddress(s.deployment).address,
    instruction: initializeRegistryInstruction(s.deployment, { ...by, settlementMint: s.mint }),
    base: 6100,
    wrongState: "6107 WrongRegistry",
    wrongCounterpart: "6108 WrongCustodyProgram",
  },
] as const;

test("custody records the attestor program", () => {
  const ledger = s.initializedLedger();
  const address = custodyConfigAddress(s.deployment).address;
  expect(decodeCustodyConfigAccount(ledger.account(address), s.deployment)).toMatchObject({
    value: { attestorProgram: s.deployment.attestorProgram },
  });
});

test("attestor records the custody program, the settlement mint and its admin", () => {
  const ledger = s.initializedLedger();
  const address = registryAddress(s.deployment).address;
  expect(decodeAttestorRegistryAccount(ledger.account(address), s.deployment)).toMatchObject({
    value: {
      admin: s.upgradeAuthority.address,
      custodyProgram: s.deployment.custodyProgram,
      settlementMint: s.mint,
    },
  });
});

describe.each(programs)("$name", (p) => {
  const { instruction, base } = p;

  test("is initialised although lamports were sent to its account before", () => {
    const ledger = s.deployedLedger();
    ledger.fund(p.address, 1_000_000n);
    ledger.do([instruction], [s.upgradeAuthority]);
    const account = ledger.account(p.address);
    expect(account.lamports).toBe(ledger.rentExempt(account.data.length));
  });

  test("is initialised once", () => {
    const ledger = s.initializedLedger();
    expect(ledger.send([instruction], [s.upgradeAuthority]).refusal).toBe(
      `${base + 6} AlreadyInitialized`,
    );
  });

  test("is initialised only by its upgrade authority", () => {
    const ledger = s.deployedLedger();
    const stolen = withAccount(
      withAccount(instruction, "upgrade_authority", s.stranger.address),
      "payer",
      s.stranger.address,
    );
    expect(ledger.send([stolen], [s.stranger]).refusal).toBe(`${base + 5} NotUpgradeAuthority`);
    const forged = forgeProgramData(ledger, s.stranger.address);
    expect(ledger.send([withAccount(stolen, "program_data", forged)], [s.stranger]).refusal).toBe(
      `${base + 4} WrongProgramData`,
    );
  });

  test("is not initialised without the upgrade authority's signature", () => {
    const ledger = s.deployedLedger();
    const unsigned = withRole(
      withAccount(instruction, "payer", s.stranger.address),
      "upgrade_authority",
      AccountRole.readonly,
    );
    expect(ledger.send([unsigned], [s.stranger]).refusal).toBe(`${base + 2} MissingSignature`);
  });

  test("accepts only its own complete ProgramData account, owned by the loader", () => {
    const address = programDataAddress(p.program);
    const { owner, data } = s.deployedLedger().account(address);
    for (const [strangeOwner, strangeData] of [
      [s.deployment.attestorProgram, data],
      [owner, data.slice(0, 44)],
      [owner, data.with(0, 1)],
    ] as const) {
      const ledger = s.deployedLedger();
      ledger.put(address, strangeOwner, strangeData);
      expect(ledger.send([instruction], [s.upgradeAuthority]).refusal).toBe(
        `${base + 4} WrongProgramData`,
      );
    }
  });

  test("cannot be initialised once it is immutable", () => {
    const ledger = s.deployedLedger();
    const address = programDataAddress(p.program);
    const { owner, data } = ledger.account(address);
    // The loader clears the option and leaves the former authority's key in the bytes after it.
    ledger.put(address, owner, data.with(12, 0));
    expect(ledger.send([instruction], [s.upgradeAuthority]).refusal).toBe(
      `${base + 5} NotUpgradeAuthority`,
    );
  });

  test.each([
    [
      "program_data",
      programDataAddress(
        p.counterpart === "attestor_program"
          ? s.deployment.attestorProgram
          : s.deployment.custodyProgram,
      ),
      `${base + 4} WrongProgramData`,
    ],
    [p.state, nowhere, p.wrongState],
    [p.counterpart, s.stranger.address, p.wrongCounterpart],
    ["system_program", s.deployment.custodyProgram, `${base + 9} WrongSystemProgram`],
  ])("refuses another account as %s", (name, address, refusal) => {
    const ledger = s.deployedLedger();
    expect(
      ledger.send([withAccount(instruction, name, address)], [s.upgradeAuthority]).refusal,
    ).toBe(refusal);
    expect(ledger.account(p.address).owner).toBe(SYSTEM_PROGRAM);
  });
});
