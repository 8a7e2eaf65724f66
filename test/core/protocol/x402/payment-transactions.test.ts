import { expect, test } from "bun:test";
import { encodeBase64 } from "../../../../core/domain/encoding/base64.ts";
import type { Instruction } from "../../../../core/domain/ledger/instruction.ts";
import {
  cancelEscrowInstruction,
  captureInstruction,
  claimRefundInstruction,
  releaseEscrowInstruction,
  returnRentInstruction,
} from "../../../../core/protocol/instructions/custody-instructions.ts";
import { ed25519Instruction } from "../../../../core/protocol/instructions/ed25519-instruction.ts";
import { unsignedTransaction } from "../../../../core/protocol/transaction/unsigned-transaction.ts";
import {
  releasingProof,
  settlingFault,
} from "../../../../core/protocol/x402/payment-transactions.ts";
import {
  AGENT,
  attests,
  DEPLOYMENT,
  MERCHANT,
  MINT,
  party,
  PAYER,
  payment,
  proves,
  session,
} from "../rules/session-world.ts";

const target = { escrow: payment.address, mint: MINT };
const release = releaseEscrowInstruction(DEPLOYMENT, { ...target, merchant: MERCHANT });
const cancel = cancelEscrowInstruction(DEPLOYMENT, { ...target, merchant: MERCHANT });
const claim = claimRefundInstruction(DEPLOYMENT, { ...target, agentOwner: AGENT });
const rent = returnRentInstruction(DEPLOYMENT, { ...target, rentPayer: PAYER });
const attest = (total: bigint) => ed25519Instruction(attests(payment, { total }));

const sent = (...instructions: ReadonlyArray<Instruction>): string =>
  encodeBase64(unsignedTransaction({ payer: party(46), blockhash: MINT, instructions }).bytes);
const fault = (
  operation: "authorize" | "capture" | "void",
  ...instructions: ReadonlyArray<Instruction>
) =>
  settlingFault(
    sent(...instructions),
    { escrow: payment.address, operation },
    { amount: 10n },
    DEPLOYMENT,
  );

test("a release of the amount that is asked for settles, with refund and rent behind it or without", () => {
  expect(fault("capture", attest(10n), release)).toBeNull();
  expect(fault("capture", attest(10n), release, claim, rent)).toBeNull();
  expect(fault("void", cancel)).toBeNull();
  expect(fault("void", cancel, claim, rent)).toBeNull();
  expect(releasingProof(sent(attest(10n), release), DEPLOYMENT)).toBe(
    attests(payment).message.toHex().slice(144, 208) as never,
  );
});

test("another amount, another instruction and another escrow do not", () => {
  expect(fault("capture", attest(11n), release)?.code).toBe("another_amount");
  const capture = captureInstruction(DEPLOYMENT, { ...target, merchant: MERCHANT });
  const elsewhere = releaseEscrowInstruction(DEPLOYMENT, {
    ...target,
    escrow: party(60),
    merchant: MERCHANT,
  });
  const foreign = returnRentInstruction(DEPLOYMENT, { escrow: party(60), rentPayer: PAYER });
  for (const instructions of [
    [attest(10n), cancel],
    [attest(10n), capture],
    [attest(10n), elsewhere],
    [attest(10n), release, cancel],
    [attest(10n), release, foreign],
    [attest(10n), claim],
    [attest(10n)],
  ])
    expect(fault("capture", ...instructions)?.code).toBe("another_transaction");
  expect(fault("authorize", attest(10n), release)?.code).toBe("another_transaction");
  expect(fault("void", attest(10n), release)?.code).toBe("another_transaction");
});

test("with two attestations, or a session's proof, nobody can tell what is released", () => {
  for (const proofs of [[], [attest(10n), attest(1n)], [proves(session)]]) {
    expect(fault("capture", ...proofs, release)?.code).toBe("another_transaction");
    expect(releasingProof(sent(...proofs, release), DEPLOYMENT)).toBeUndefined();
  }
  expect(releasingProof(sent(attest(10n), cancel), DEPLOYMENT)).toBeUndefined();
});
