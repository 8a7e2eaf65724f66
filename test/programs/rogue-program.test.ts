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
import { instructionDiscriminator } from "../doubles/discriminator.ts";
import { encodeEscrowAccount } from "../../core/protocol/accounts/escrow-account.ts";
import { COMPILER, compileSource, hasCompiler } from "../../programs/compile.ts";
import { LEDGER_VARIANT } from "./fixture/ledger-variant.ts";
import { OTHER_FORMS, OTHER_SESSION_FORMS } from "./fixture/ed25519-forms.ts";
import * as s from "./fixture/settlement.ts";
import { deployAs } from "./fixture/tampering.ts";
import type { TestLedger } from "./fixture/test-ledger.ts";
import type { Wallet } from "./fixture/wallet.ts";

const by = { payer: s.upgradeAuthority.address, upgradeAuthority: s.upgradeAuthority.address };

/** The first byte of what `rogue.c` is sent: it acts as the recorded custody program, or hands everything on. */
const [CALL_RECORD_DELIVERY, FORWARD] = [1, 2];

/** The flaws of the rogue program's escrow. */
type Flaw = {
  readonly state?: "Refunded";
  readonly merchant?: Wallet;
  readonly owner?: Address;
  readonly corrupt?: (data: Uint8Array) => Uint8Array;
};

/**
 * Asks the attestor program to count a delivery of the rogue program's escrow. Returns the refusal, undefined on
 * success.
 */
const recordFor = (rogue: Uint8Array, flaw: Flaw = {}): string | undefined => {
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
  const record: Instruction = {
    programAddress: custodyProgram,
    accounts: [
      readonly(address),
      writable(merchantAddress(deployment, merchant.address).address),
      readonly(registryAddress(deployment).address),
      readonly(deployment.attestorProgram),
    ],
    data: fieldWriter(17)
      .u8(CALL_RECORD_DELIVERY)
      .bytes(instructionDiscriminator("record_delivery"))
      .u64(s.AMOUNT)
      .done(),
  };
  return ledger.send([record], [s.stranger]).refusal;
};

describe.skipIf(!hasCompiler())(`a rogue program (needs clang ${COMPILER.version})`, () => {
  let rogue = new Uint8Array();
  beforeAll(async () => {
    const source = join(import.meta.dir, "fixture/rogue.c");
    rogue = new Uint8Array(await compileSource(source, LEDGER_VARIANT.elf));
  });

  test("that releases in a call of its own needs the attestation before that call, in the one form", () => {
    const ledger = s.escrowLedger();
    const { accounts, data, programAddress } = s.releaseInstruction();
    const release: Instruction = {
      programAddress: deployAs(ledger, "forwarding", rogue),
      accounts: [...accounts, readonly(programAddress)],
      data: Uint8Array.of(FORWARD, ...data),
    };
    const refusal = (...instructions: ReadonlyArray<Instruction>) =>
      ledger.send(instructions, [s.stranger]).refusal;
    expect(refusal(release)).toBe("6027 AttestationMissing");
    expect(refusal(release, s.attestInstruction())).toBe("6027 AttestationMissing");
    for (const { attest } of OTHER_FORMS)
      expect(refusal(attest(), release)).toBe("6039 AttestationMalformed");
    expect(refusal(s.attestInstruction(), release)).toBeUndefined();
  });

  test("that captures or releases a session in a call of its own needs the proof before that call, in the one form", () => {
    const forwarded = (ledger: TestLedger, { accounts, data, programAddress }: Instruction) => ({
      programAddress: deployAs(ledger, "forwarding", rogue),
      accounts: [...accounts, readonly(programAddress)],
      data: Uint8Array.of(FORWARD, ...data),
    });
    for (const [instruction, isFinal] of [
      [s.captureInstruction(), false],
      [s.releaseInstruction(), true],
    ] as const) {
      const ledger = s.sessionLedger();
      const call = forwarded(ledger, instruction);
      const proof = { total: 7n, deliveries: 2, isFinal };
      const prove = s.proveInstruction(proof);
      const refusal = (...instructions: ReadonlyArray<Instruction>) =>
        ledger.send(instructions, [s.stranger]).refusal;
      expect(refusal(call)).toBe("6027 AttestationMissing");
      expect(refusal(call, prove)).toBe("6027 AttestationMissing");
      for (const { prove: other } of OTHER_SESSION_FORMS)
        expect(refusal(other(proof), call)).toBe("6039 AttestationMalformed");
      expect(refusal(prove, call)).toBeUndefined();
      expect(s.readEscrow(ledger)).toMatchObject({ released: 7n, deliveries: 2 });
    }
  });

  describe("recorded as custody", () => {
    test("is answered for an escrow that is Pending", () => {
      expect(recordFor(rogue)).toBeUndefined();
    });

    test("is refused for another merchant than the escrow's", () => {
      expect(recordFor(rogue, { merchant: s.stranger })).toBe("6111 WrongMerchant");
    });

    test.each<[string, Flaw]>([
      ["belongs to another program", { owner: s.deployment.custodyProgram }],
      ["is a byte too short", { corrupt: (data) => data.slice(0, -1) }],
      ["is a byte too long", { corrupt: (data) => Uint8Array.of(...data, 0) }],
      ["has another discriminator", { corrupt: (data) => data.with(0, 0) }],
    ])("is refused for an escrow that %s", (_, flaw) => {
      expect(recordFor(rogue, flaw)).toBe("6116 WrongEscrow");
    });

    test("is refused for a settled escrow", () => {
      expect(recordFor(rogue, { state: "Refunded" })).toBe("6117 EscrowNotPending");
    });
  });
});
