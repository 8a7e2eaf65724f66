import { describe, expect, test } from "bun:test";
import type { Instruction } from "../../../core/domain/ledger/instruction.ts";
import { custodyConfigAddress, escrowAddress } from "../../../core/protocol/addresses/addresses.ts";
import * as s from "../fixture/settlement.ts";
import {
  at,
  attest,
  attestPart,
  captured,
  cancel,
  EXPIRY,
  newKey,
  refund,
  release,
  rotate,
  withByte,
} from "../fixture/settlement-attempts.ts";
import { forgeCopy, withAccount } from "../fixture/tampering.ts";
import type { TestLedger } from "../fixture/test-ledger.ts";
import { tokenBalance } from "../fixture/token-account.ts";
import type { Wallet } from "../fixture/wallet.ts";

// An agent that chose a merchant for its independent attestor relies on that attestor. The merchant must not be able to
// replace it.

const REVOKED = "6046 EscrowRevoked";
const refusal = (
  ledger: TestLedger,
  instructions: ReadonlyArray<Instruction>,
  signers: readonly [Wallet, ...Array<Wallet>] = [s.stranger],
): string | undefined => ledger.send(instructions, signers).refusal;

describe("a merchant cannot release with a key of its own", () => {
  const own = s.merchant;

  test("by rotating to it, releasing and rotating back in one transaction", () => {
    const ledger = s.escrowLedger();
    const attack = [rotate(own), s.attestInstruction({}, own), release, rotate(s.attestor)];
    expect(refusal(ledger, attack, [own])).toBe("6041 WrongAttestor");
    expect(tokenBalance(ledger, s.merchantTokens)).toBe(0n);
    expect(s.readMerchant(ledger).attestor).toBe(s.attestor.address);
  });

  test("by rotating to it in an earlier transaction", () => {
    const ledger = s.escrowLedger();
    ledger.do([rotate(own)], [own]);
    expect(refusal(ledger, [s.attestInstruction({}, own), release])).toBe("6041 WrongAttestor");
  });

  test("by rotating just before the escrow is made, when the agent names the key", () => {
    const ledger = s.merchantLedger();
    const create = s.createInstruction({ attestor: s.attestor.address });
    ledger.do([rotate(own)], [own]);
    expect(refusal(ledger, [create], [s.agent])).toBe("6031 AttestorChanged");
    ledger.do([rotate(s.attestor)], [own]);
    ledger.do([create], [s.agent]);
    expect(s.readEscrow(ledger).attestor).toBe(s.attestor.address);
  });
});

describe("create_escrow", () => {
  test("records the merchant's present key when the agent names none", () => {
    const ledger = s.merchantLedger();
    ledger.do([rotate(newKey)], [s.merchant]);
    ledger.do([s.createInstruction()], [s.agent]);
    expect(s.readEscrow(ledger).attestor).toBe(newKey.address);
    expect(refusal(ledger, [s.attestOn(ledger), release])).toBe("6041 WrongAttestor");
    expect(refusal(ledger, [s.attestOn(ledger, {}, newKey), release])).toBeUndefined();
  });

  test("refuses any key but the present one, also the former one", () => {
    const ledger = s.merchantLedger();
    ledger.do([rotate(newKey)], [s.merchant]);
    for (const attestor of [s.attestor.address, s.stranger.address, s.merchant.address])
      expect(refusal(ledger, [s.createInstruction({ attestor })], [s.agent])).toBe(
        "6031 AttestorChanged",
      );
  });
});

test("an earlier escrow is released by the key it records, after any number of rotations", () => {
  const ledger = s.escrowLedger();
  for (const key of [newKey, s.stranger, s.merchant]) ledger.do([rotate(key)], [s.merchant]);
  expect(refusal(ledger, [s.attestInstruction({}, newKey), release])).toBe("6041 WrongAttestor");
  ledger.do([attest, release], [s.stranger]);
  expect(s.readEscrow(ledger)).toMatchObject({
    state: "Fulfilled",
    attestor: s.attestor.address,
  });
});

describe("a rotation that revokes", () => {
  const revoked = (): TestLedger => {
    const ledger = s.escrowLedger();
    ledger.do([rotate(newKey, true)], [s.merchant]);
    return ledger;
  };

  test("stops every release of earlier escrows, in full or in part, by any key", () => {
    const ledger = revoked();
    expect(s.readMerchant(ledger).revokedSeq).toBe(1n);
    for (const attempt of [
      [attest, release],
      [attestPart(2n), release],
      [s.attestInstruction({}, newKey), release],
    ])
      expect(refusal(ledger, attempt)).toBe(REVOKED);
  });

  test("stops the captures of earlier sessions", () => {
    const ledger = s.sessionLedger();
    ledger.do([rotate(newKey, true)], [s.merchant]);
    expect(refusal(ledger, captured(2n, 1))).toBe(REVOKED);
  });

  test("lets them be cancelled and refunded", () => {
    revoked().do([cancel], [s.merchant]);
    at(EXPIRY, revoked()).do([refund], [s.stranger]);
  });

  test("does not concern escrows made after it, in the same second or the same transaction", () => {
    const ledger = s.escrowLedger();
    const taskHash = s.hashOf(0x33);
    const escrow = escrowAddress(s.deployment, s.agent.address, taskHash).address;
    ledger.do(
      [rotate(newKey, true), s.createInstruction({ taskHash, attestor: newKey.address })],
      [s.merchant, s.agent],
    );
    expect(s.readEscrow(ledger, escrow).createdAt).toBe(s.readMerchant(ledger).attestorSince);
    const later = [s.attestOn(ledger, { escrow }, newKey), s.releaseInstruction({ escrow })];
    ledger.do(later, [s.stranger]);
    expect(refusal(ledger, [attest, release])).toBe(REVOKED);
  });

  test("concerns an escrow made just before it, in the same transaction", () => {
    const ledger = s.merchantLedger();
    ledger.do([s.createInstruction(), rotate(newKey, true)], [s.agent, s.merchant]);
    expect(refusal(ledger, [attest, release])).toBe(REVOKED);
  });

  test("is not undone by a later rotation, not even to the former key", () => {
    const ledger = revoked();
    ledger.do([rotate(s.attestor)], [s.merchant]);
    expect(s.readMerchant(ledger).revokedSeq).toBe(1n);
    expect(refusal(ledger, [attest, release])).toBe(REVOKED);
  });

  test("concerns only this merchant's escrows", () => {
    const ledger = s.escrowLedger();
    ledger.do([s.registerInstruction(s.stranger, newKey.address)], [s.stranger]);
    const other = rotate(s.attestor, true);
    const ofStranger = withAccount(other, "merchant_wallet", s.stranger.address);
    expect(refusal(ledger, [ofStranger], [s.stranger])).toBe("6111 WrongMerchant");
    ledger.do([attest, release], [s.stranger]);
  });

  test("reads the event number from custody's own configuration and no other account", () => {
    const ledger = s.escrowLedger();
    const config = custodyConfigAddress(s.deployment).address;
    const copy = forgeCopy(ledger, config);
    const foreign = forgeCopy(ledger, config, { owner: s.deployment.attestorProgram });
    for (const wrong of [copy, foreign, s.escrow, s.merchantPda]) {
      const instruction = withAccount(rotate(newKey, true), "custody_config", wrong);
      expect(refusal(ledger, [instruction], [s.merchant])).toBe("6127 WrongConfig");
    }
    const registry = withAccount(rotate(newKey, true), "registry", s.merchantPda);
    expect(refusal(ledger, [registry], [s.merchant])).toBe("6107 WrongRegistry");
  });

  test("is marked by the byte 1 and nothing else", () => {
    const ledger = s.escrowLedger();
    for (const byte of [2, 0xff])
      expect(refusal(ledger, [withByte(rotate(newKey), 40, byte)], [s.merchant])).toBe(
        "6100 InvalidInstruction",
      );
  });
});
