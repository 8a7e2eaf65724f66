import { describe, expect, test } from "bun:test";
import type { Address } from "../../../core/domain/address.ts";
import { AccountRole } from "../../../core/domain/ledger/instruction.ts";
import { decodeAttestorRegistryAccount } from "../../../core/protocol/accounts/settings-accounts.ts";
import { registryAddress } from "../../../core/protocol/addresses/addresses.ts";
import {
  acceptAdminInstruction,
  proposeAdminInstruction,
  setMerchantStatusInstruction,
} from "../../../core/protocol/instructions/attestor-instructions.ts";
import * as s from "../fixture/settlement.ts";
import { forgeCopy, withAccount, withRole } from "../fixture/tampering.ts";
import type { TestLedger } from "../fixture/test-ledger.ts";
import { wallet } from "../fixture/wallet.ts";

const admin = s.upgradeAuthority;
const next = s.stranger;
const propose = (proposed: Address | null, by: Address = admin.address) =>
  proposeAdminInstruction(s.deployment, { admin: by, proposed });
const accept = acceptAdminInstruction(s.deployment, { proposed: next.address });

const registryOf = (ledger: TestLedger) => {
  const account = ledger.account(registryAddress(s.deployment).address);
  const decoded = decodeAttestorRegistryAccount(account, s.deployment);
  if ("fault" in decoded) throw new Error(decoded.fault);
  return decoded.value;
};
const proposed = (): TestLedger => {
  const ledger = s.merchantLedger();
  ledger.do([propose(next.address)], [admin]);
  return ledger;
};
const suspendBy = (by: Address) =>
  setMerchantStatusInstruction(s.deployment, {
    admin: by,
    merchant: s.merchant.address,
    status: "Suspended",
  });

test("the proposed admin becomes admin on acceptance, not before", () => {
  const ledger = proposed();
  expect(registryOf(ledger)).toMatchObject({
    admin: admin.address,
    proposedAdmin: next.address,
  });
  expect(ledger.send([suspendBy(next.address)], [next]).refusal).toBe("6110 NotAdmin");
  ledger.do([accept], [next]);
  expect(registryOf(ledger)).toMatchObject({ admin: next.address, proposedAdmin: null });
  expect(ledger.send([suspendBy(admin.address)], [admin]).refusal).toBe("6110 NotAdmin");
  ledger.do([suspendBy(next.address)], [next]);
});

test("custody program and settlement mint do not change", () => {
  const ledger = proposed();
  ledger.do([accept], [next]);
  expect(registryOf(ledger)).toMatchObject({
    custodyProgram: s.deployment.custodyProgram,
    settlementMint: s.mint,
  });
});

test("the latest proposal counts, and a proposal of nobody withdraws it", () => {
  const ledger = proposed();
  ledger.do([propose(s.merchant.address)], [admin]);
  expect(ledger.send([accept], [next]).refusal).toBe("6129 NotProposedAdmin");
  ledger.do([propose(null)], [admin]);
  const byMerchant = acceptAdminInstruction(s.deployment, { proposed: s.merchant.address });
  expect(ledger.send([byMerchant], [s.merchant]).refusal).toBe("6129 NotProposedAdmin");
  expect(registryOf(ledger)).toMatchObject({ admin: admin.address, proposedAdmin: null });
});

test("an acceptance counts once", () => {
  const ledger = proposed();
  ledger.do([accept], [next]);
  expect(ledger.send([accept], [next]).refusal).toBe("6129 NotProposedAdmin");
});

describe("refuses", () => {
  test("a proposal by anyone but the admin, also by the proposed admin", () => {
    const ledger = proposed();
    for (const by of [next, s.merchant, s.agent])
      expect(ledger.send([propose(by.address, by.address)], [by]).refusal).toBe("6110 NotAdmin");
    const unsigned = withRole(propose(next.address), "admin", AccountRole.readonly);
    expect(ledger.send([unsigned], [next]).refusal).toBe("6102 MissingSignature");
  });

  test("an acceptance without the proposed admin's signature, or by another wallet", () => {
    const ledger = proposed();
    const unsigned = withRole(accept, "proposed_admin", AccountRole.readonly);
    expect(ledger.send([unsigned], [s.agent]).refusal).toBe("6102 MissingSignature");
    const byOther = withAccount(accept, "proposed_admin", s.agent.address);
    expect(ledger.send([byOther], [s.agent]).refusal).toBe("6129 NotProposedAdmin");
  });

  test("a forged or read-only registry", () => {
    const ledger = proposed();
    const at = wallet("forged registry").address;
    forgeCopy(ledger, registryAddress(s.deployment).address, { at });
    for (const [instruction, by] of [
      [propose(next.address), admin],
      [accept, next],
    ] as const) {
      const forged = withAccount(instruction, "registry", at);
      expect(ledger.send([forged], [by]).refusal).toBe("6107 WrongRegistry");
      const fixed = withRole(instruction, "registry", AccountRole.readonly);
      expect(ledger.send([fixed], [by]).refusal).toBe("6103 AccountNotWritable");
    }
  });
});
