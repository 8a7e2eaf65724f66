import { beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { Address } from "../../core/domain/address.ts";
import type { EscrowState } from "../../core/domain/escrow/escrow.ts";
import { type Instruction, readonly, writable } from "../../core/domain/ledger/instruction.ts";
import {
  escrowAddress,
  merchantAddress,
  registryAddress,
} from "../../core/protocol/addresses/addresses.ts";
import { initializeRegistryInstruction } from "../../core/protocol/instructions/attestor-instructions.ts";
import { fieldWriter } from "../../core/protocol/accounts/byte-fields.ts";
import { initializeCustodyInstruction } from "../../core/protocol/instructions/custody-instructions.ts";
import { instructionDiscriminator } from "../doubles/discriminator.ts";
import { encodeEscrowAccount } from "../../core/protocol/accounts/escrow-account.ts";
import { encodeMerchantAccount } from "../../core/protocol/accounts/merchant-account.ts";
import { INSTRUCTIONS_SYSVAR } from "../../core/protocol/addresses/well-known-addresses.ts";
import { COMPILER, compileSource, hasCompiler } from "../../programs/compile.ts";
import { LEDGER_VARIANT } from "./fixture/ledger-variant.ts";
import * as s from "./fixture/settlement.ts";
import { deployAs, withAccount } from "./fixture/tampering.ts";
import type { Wallet } from "./fixture/wallet.ts";

const by = { payer: s.upgradeAuthority.address, upgradeAuthority: s.upgradeAuthority.address };

/** The flaws of the rogue program's escrow. */
type Flaw = {
  readonly state?: "Refunded";
  readonly merchant?: Wallet;
  readonly owner?: Address;
  readonly corrupt?: (data: Uint8Array) => Uint8Array;
};

/**
 * Asks the attestor program to verify an attestation for the rogue program's escrow. Returns the refusal, undefined on
 * success.
 */
const verifyFor = (rogue: Uint8Array, flaw: Flaw = {}): string | undefined => {
  const { merchant = s.merchant, corrupt = (data) => data } = flaw;
  const state: EscrowState = flaw.state ?? "Pending";
  const ledger = s.deployedLedger();
  const custodyProgram = deployAs(ledger, "custody", rogue);
  const deployment = { ...s.deployment, custodyProgram };
  const settlementMint = s.mint;
  ledger.do(
    [
      initializeRegistryInstruction(deployment, { ...by, settlementMint }),
      s.registerInstruction(merchant, s.attestor.address),
    ],
    [s.upgradeAuthority, merchant],
  );
  const { address, bump } = escrowAddress(deployment, s.agent.address, s.TASK);
  const settledAt = state === "Pending" ? null : s.START;
  const escrow = { ...s.readEscrow(s.escrowLedger()), address, bump, state, settledAt };
  ledger.put(address, flaw.owner ?? custodyProgram, corrupt(encodeEscrowAccount(escrow)));
  const verify: Instruction = {
    programAddress: custodyProgram,
    accounts: [
      readonly(address),
      writable(merchantAddress(deployment, merchant.address).address),
      readonly(registryAddress(deployment).address),
      readonly(INSTRUCTIONS_SYSVAR),
      readonly(deployment.attestorProgram),
    ],
    data: fieldWriter(57)
      .u8(2)
      .bytes(instructionDiscriminator("verify_attestation"))
      .hash(s.PROOF)
      .i64(s.START)
      .u64(0n)
      .done(),
  };
  return ledger.send([s.attestInstruction({ escrow: address }), verify], [s.stranger]).refusal;
};

describe.skipIf(!hasCompiler())(`a rogue program (needs clang ${COMPILER.version})`, () => {
  let rogue = new Uint8Array();
  beforeAll(async () => {
    const source = join(import.meta.dir, "fixture/rogue.c");
    rogue = new Uint8Array(await compileSource(source, LEDGER_VARIANT.elf));
  });

  test("recorded as the attestor cannot pass off another program's return data", () => {
    const ledger = s.deployedLedger();
    const deployment = { ...s.deployment, attestorProgram: deployAs(ledger, "attestor", rogue) };
    ledger.do([initializeCustodyInstruction(deployment, by)], [s.upgradeAuthority]);
    const { address, bump } = merchantAddress(deployment, s.merchant.address);
    const registered = { ...s.readMerchant(s.merchantLedger()), address, bump };
    ledger.put(address, deployment.attestorProgram, encodeMerchantAccount(registered));
    ledger.do([withAccount(s.createInstruction(), "merchant", address)], [s.agent]);
    const replaced = withAccount(
      withAccount(s.releaseInstruction(), "attestor_program", deployment.attestorProgram),
      "merchant",
      address,
    );
    const returning = withAccount(replaced, "registry", deployAs(ledger, "returning", rogue));
    const outcome = ledger.send([s.attestInstruction(), returning], [s.stranger]);
    expect(outcome.logs.join()).toContain("Program return: ");
    expect(outcome.refusal).toBe("6027 AttestationNotReturned");
  });

  describe("recorded as custody", () => {
    test("is answered for an escrow that is Pending", () => {
      expect(verifyFor(rogue)).toBeUndefined();
    });

    test("is refused for another merchant than the escrow's", () => {
      expect(verifyFor(rogue, { merchant: s.stranger })).toBe("6111 WrongMerchant");
    });

    test.each<[string, Flaw]>([
      ["belongs to another program", { owner: s.deployment.custodyProgram }],
      ["is a byte too short", { corrupt: (data) => data.slice(0, -1) }],
      ["is a byte too long", { corrupt: (data) => Uint8Array.of(...data, 0) }],
      ["has another discriminator", { corrupt: (data) => data.with(0, 0) }],
    ])("is refused for an escrow that %s", (_, flaw) => {
      expect(verifyFor(rogue, flaw)).toBe("6116 WrongEscrow");
    });

    test("is refused for a settled escrow", () => {
      expect(verifyFor(rogue, { state: "Refunded" })).toBe("6117 EscrowNotPending");
    });
  });
});
