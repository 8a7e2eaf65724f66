import { describe, expect, test } from "bun:test";
import type { Address } from "../../core/domain/address.ts";
import type { Instruction } from "../../core/domain/ledger/instruction.ts";
import { custodyConfigAddress, registryAddress } from "../../core/protocol/addresses/addresses.ts";
import { rotateAttestorInstruction } from "../../core/protocol/instructions/attestor-instructions.ts";
import * as s from "./fixture/settlement.ts";
import { captured, EXPIRY, settledSession } from "./fixture/settlement-attempts.ts";
import type { TestLedger } from "./fixture/test-ledger.ts";
import { wallet, type Wallet } from "./fixture/wallet.ts";

// No transaction can bring an account to these states; the programs refuse them nevertheless, so that no single
// check, the derived address among them, alone protects the vault from a foreign account.

const config = custodyConfigAddress(s.deployment).address;
const registry = registryAddress(s.deployment).address;
const create = s.createInstruction({ taskHash: s.hashOf(0x44) });
const release = [s.attestInstruction(), s.releaseInstruction()];
const capture = captured(2n, 1);
const rotate = rotateAttestorInstruction(s.deployment, {
  merchant: s.merchant.address,
  attestor: wallet("next attestor").address,
});
const register = s.registerInstruction(s.stranger, s.attestor.address);

const cases: ReadonlyArray<
  readonly [name: string, address: Address, ReadonlyArray<Instruction>, by: Wallet, refusal: string]
> = [
  ["config at create_escrow", config, [create], s.agent, "6007 WrongConfig"],
  ["merchant at create_escrow", s.merchantPda, [create], s.agent, "6013 WrongMerchant"],
  ["escrow at release_escrow", s.escrow, release, s.stranger, "6019 WrongEscrow"],
  ["config at release_escrow", config, release, s.stranger, "6007 WrongConfig"],
  ["vault at release_escrow", s.vault, release, s.stranger, "6021 WrongVault"],
  ["merchant at release_escrow", s.merchantPda, release, s.stranger, "6013 WrongMerchant"],
  ["registry at release_escrow", registry, release, s.stranger, "6107 WrongRegistry"],
  ["registry at register_merchant", registry, [register], s.stranger, "6107 WrongRegistry"],
  ["merchant at rotate_attestor", s.merchantPda, [rotate], s.merchant, "6111 WrongMerchant"],
  ["registry at rotate_attestor", registry, [rotate], s.merchant, "6107 WrongRegistry"],
  ["config at rotate_attestor", config, [rotate], s.merchant, "6127 WrongConfig"],
  ["escrow at cancel_escrow", s.escrow, [s.cancelInstruction()], s.merchant, "6019 WrongEscrow"],
  ["config at cancel_escrow", config, [s.cancelInstruction()], s.merchant, "6007 WrongConfig"],
  ["escrow at capture", s.escrow, capture, s.stranger, "6019 WrongEscrow"],
  ["config at capture", config, capture, s.stranger, "6007 WrongConfig"],
  ["vault at capture", s.vault, capture, s.stranger, "6021 WrongVault"],
  ["merchant at capture", s.merchantPda, capture, s.stranger, "6013 WrongMerchant"],
  ["escrow at close_session", s.escrow, [s.closeInstruction()], s.agent, "6019 WrongEscrow"],
  ["escrow at claim_refund", s.escrow, [s.refundInstruction()], s.stranger, "6019 WrongEscrow"],
  ["vault at claim_refund", s.vault, [s.refundInstruction()], s.stranger, "6021 WrongVault"],
  ["config at claim_refund", config, [s.refundInstruction()], s.stranger, "6007 WrongConfig"],
  ["escrow at return_rent", s.escrow, [s.rentInstruction()], s.stranger, "6019 WrongEscrow"],
];

/** A ledger on which the instructions would succeed, were the account as it was. */
const ledgerFor = (name: string): TestLedger => {
  if (name.endsWith("return_rent")) return settledSession();
  const ledger = / (?:capture|close_session)$/.test(name) ? s.sessionLedger() : s.escrowLedger();
  if (name.endsWith("claim_refund")) ledger.time = EXPIRY;
  return ledger;
};

describe.each(cases)(
  "the %s, at its own address, is refused with",
  (name, address, instructions, by, code) => {
    const refusalAfter = (corrupt: (ledger: TestLedger) => void): string | undefined => {
      const ledger = ledgerFor(name);
      corrupt(ledger);
      return ledger.send(instructions, [by]).refusal;
    };

    test("another owner", () => {
      const strange = wallet("another program").address;
      expect(
        refusalAfter((ledger) => ledger.put(address, strange, ledger.account(address).data)),
      ).toBe(code);
    });

    test.each([-1, 1])("%d byte of data more", (change) => {
      expect(
        refusalAfter((ledger) => {
          const { owner, data } = ledger.account(address);
          const resized = new Uint8Array(data.length + change);
          resized.set(data.subarray(0, resized.length));
          ledger.put(address, owner, resized);
        }),
      ).toBe(code);
    });

    // The vault is the Token program's account and has no version.
    if (address !== s.vault)
      test("another account version", () => {
        for (const version of [2, 4])
          expect(
            refusalAfter((ledger) => {
              const { owner, data } = ledger.account(address);
              ledger.put(address, owner, data.with(8, version));
            }),
          ).toBe(code);
      });

    test("another bump", () => {
      // The escrow records the vault's bump.
      const [at, place] = address === s.vault ? [s.escrow, 11] : [address, 9];
      expect(
        refusalAfter((ledger) => {
          const { owner, data } = ledger.account(at);
          ledger.put(at, owner, data.with(place, (data[place] ?? 0) ^ 1));
        }),
      ).toBe(code);
    });

    test("another first byte: discriminator or mint", () => {
      expect(
        refusalAfter((ledger) => {
          const { owner, data } = ledger.account(address);
          ledger.put(address, owner, data.with(0, (data[0] ?? 0) ^ 1));
        }),
      ).toBe(code);
    });
  },
);
