import { describe, expect, test } from "bun:test";
import type { Address } from "../../../core/domain/address.ts";
import {
  type Instruction,
  readonly,
  readonlySigner,
  writable,
} from "../../../core/domain/ledger/instruction.ts";
import { registryAddress } from "../../../core/protocol/addresses/addresses.ts";
import { fieldWriter } from "../../../core/protocol/accounts/byte-fields.ts";
import { instructionDiscriminator } from "../../doubles/discriminator.ts";
import * as s from "../fixture/settlement.ts";
import { deployAcceptEverything, forgeCopy, withAccount } from "../fixture/tampering.ts";
import type { TestLedger } from "../fixture/test-ledger.ts";
import { wallet, type Wallet } from "../fixture/wallet.ts";

/** A call of `record_delivery` that does not come from custody. */
const uninvited = (escrow: ReturnType<typeof readonlySigner>): Instruction => ({
  programAddress: s.deployment.attestorProgram,
  accounts: [escrow, writable(s.merchantPda), readonly(registryAddress(s.deployment).address)],
  data: fieldWriter(16).bytes(instructionDiscriminator("record_delivery")).u64(s.AMOUNT).done(),
});

const plain = wallet("plain account");

/** Calls with a plain account in place of the escrow, signed by its own key. */
const refusal = (ledger: TestLedger, instruction = uninvited(readonlySigner(plain.address))) => {
  const signers: [Wallet, ...Array<Wallet>] = [s.stranger, plain];
  const outcome = ledger.send([s.attestInstruction(), instruction], signers);
  expect(s.readMerchant(ledger).deliveries).toBe(0n);
  return outcome.refusal;
};

describe("only custody can call it:", () => {
  test("not a caller that names a real escrow, because only custody can sign for it", () => {
    const ledger = s.escrowLedger();
    const call = [s.attestInstruction(), uninvited(readonly(s.escrow))];
    expect(ledger.send(call, [s.stranger]).refusal).toBe("6102 MissingSignature");
  });

  test("not a caller whose own account signs", () => {
    const ledger = s.escrowLedger();
    ledger.fund(plain.address);
    expect(refusal(ledger)).toBe("6116 WrongEscrow");
  });

  test("not a caller that assigned its own, empty account to custody", () => {
    const ledger = s.escrowLedger();
    ledger.put(plain.address, s.deployment.custodyProgram, new Uint8Array(416));
    expect(refusal(ledger)).toBe("6116 WrongEscrow");
  });

  test("not an escrow's exact copy at an address that a key signs for", () => {
    const ledger = s.escrowLedger();
    forgeCopy(ledger, s.escrow, { at: plain.address });
    expect(refusal(ledger)).toBe("6116 WrongEscrow");
  });

  test("not an escrow of another custody program", () => {
    const ledger = s.escrowLedger();
    forgeCopy(ledger, s.escrow, { at: plain.address, owner: deployAcceptEverything(ledger) });
    expect(refusal(ledger)).toBe("6116 WrongEscrow");
  });

  test("not with a registry that names another custody program", () => {
    const ledger = s.escrowLedger();
    const custody = deployAcceptEverything(ledger);
    forgeCopy(ledger, s.escrow, { at: plain.address, owner: custody });
    const at = wallet("forged registry").address;
    const registry = ledger.account(registryAddress(s.deployment).address);
    const forged = fieldWriter(registry.data.length)
      .bytes(registry.data.slice(0, 48))
      .address(custody);
    ledger.put(at, s.deployment.attestorProgram, forged.bytes(registry.data.slice(80)).done());
    const call = uninvited(readonlySigner(plain.address));
    const withRegistry = (address: Address) => withAccount(call, "registry", address);
    expect(refusal(ledger, withRegistry(at))).toBe("6107 WrongRegistry");
  });
});
