import { expect, test } from "bun:test";
import * as s from "./fixture/settlement.ts";
import { tokenBalance } from "./fixture/token-account.ts";

test("a full release pays the whole vault to the merchant and keeps the signed claim on record", () => {
  const ledger = s.escrowLedger();
  const attest = s.attestInstruction();
  ledger.time = s.START + 5n;
  ledger.do([attest, s.releaseInstruction()], [s.stranger]);
  expect(tokenBalance(ledger, s.merchantTokens)).toBe(s.AMOUNT);
  expect(tokenBalance(ledger, s.vault)).toBeUndefined();
  expect(s.readEscrow(ledger)).toMatchObject({
    state: "Fulfilled",
    amount: s.AMOUNT,
    released: s.AMOUNT,
    settledAt: s.START + 5n,
    attestation: {
      proofHash: s.PROOF,
      attestor: s.attestor.address,
      attestedAt: s.START,
      signature: Buffer.from(attest.data.slice(48, 112)).toString("base64"),
    },
  });
});
