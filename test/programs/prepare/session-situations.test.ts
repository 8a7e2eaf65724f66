import { expect, test } from "bun:test";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import type { Instruction } from "../../../core/domain/ledger/instruction.ts";
import { formatUnixTime } from "../../../core/domain/unix-time.ts";
import { createAssociatedTokenInstruction } from "../../../core/protocol/accounts/token.ts";
import { withPayer } from "../../../core/protocol/instructions/account-instructions.ts";
import { readAttestationMessage } from "../../../core/protocol/instructions/attestation.ts";
import { archiveEscrowInstruction } from "../../../core/protocol/instructions/custody-instructions.ts";
import { ed25519Instruction } from "../../../core/protocol/instructions/ed25519-instruction.ts";
import { SYSTEM_PROGRAM } from "../../../core/protocol/addresses/well-known-addresses.ts";
import { readVoucherMessage } from "../../../core/protocol/instructions/voucher.ts";
import {
  prepareCapture,
  prepareRelease,
} from "../../../core/use-cases/escrow/prepare/prepare-payment.ts";
import {
  prepareArchive,
  prepareCancel,
  prepareClose,
  prepareRefund,
  prepareRent,
} from "../../../core/use-cases/escrow/prepare/prepare-return.ts";
import { breathe } from "../model/breathe.ts";
import { disturbAccount, disturbPayer, fallbackOf } from "../fixture/disturbances.ts";
import { precheck } from "../fixture/precheck.ts";
import {
  onLedger,
  type Preparation,
  sendPrepared,
  sendTransaction,
} from "../fixture/prepared-ledger.ts";
import { type RandomChoice, randomChoice, situations } from "../fixture/random-choice.ts";
import { randomProof, randomSession, signersOf } from "../fixture/session-situation.ts";
import * as s from "../fixture/settlement.ts";
import { freezeToken } from "../fixture/token-account.ts";
import type { TestLedger } from "../fixture/test-ledger.ts";
import type { Wallet } from "../fixture/wallet.ts";

const WALLETS = [s.agent, s.merchant, s.stranger];
const OPERATIONS = ["capture", "release", "close", "cancel", "refund", "rent", "archive"] as const;
type Operation = (typeof OPERATIONS)[number];

/** An archived escrow cannot be read any more, and its last state is that of a settled one. */
const isWhole = (ledger: TestLedger): boolean => ledger.account(s.escrow).data.length === 416;

const situation = (seed: number) => {
  const choice = randomChoice(seed);
  const ledger = s.merchantLedger();
  const session = randomSession(ledger, choice);
  disturbAccount(ledger, choice, s.agentTokens, s.agent);
  disturbAccount(ledger, choice, s.merchantTokens, s.merchant);
  return {
    choice,
    ledger,
    ...session,
    agentFallbackAccount: fallbackOf(ledger, choice, s.agent),
    merchantFallbackAccount: fallbackOf(ledger, choice, s.merchant),
  };
};
type Situation = ReturnType<typeof situation>;

/** The instructions of an operation, as somebody without the service makes them. */
const plainOf = (
  { ledger, rentPayer, lastBytes, agentFallbackAccount, merchantFallbackAccount }: Situation,
  operation: Operation,
  proof: s.SessionProof,
  payer: Wallet,
): ReadonlyArray<Instruction> => {
  const kept = isWhole(ledger) ? {} : { lastBytes };
  const make = (owner: Wallet, tokens: typeof s.agentTokens) =>
    ledger.account(tokens).data.length === 0
      ? [
          createAssociatedTokenInstruction({
            payer: payer.address,
            owner: owner.address,
            mint: s.mint,
          }),
        ]
      : [];
  const pays = (call: typeof s.captureInstruction) => [
    ...make(s.merchant, s.merchantTokens),
    s.proveInstruction(proof),
    call({ merchantFallbackAccount }),
  ];
  switch (operation) {
    case "capture":
      return pays(s.captureInstruction);
    case "release":
      return pays(s.releaseInstruction);
    case "close":
      return [s.closeInstruction()];
    case "cancel":
      return [s.cancelInstruction()];
    case "refund":
      return [
        ...make(s.agent, s.agentTokens),
        s.refundInstruction({ agentFallbackAccount, ...kept }),
      ];
    case "rent":
      return [s.rentInstruction({ rentPayer, ...kept })];
    case "archive": {
      const target = { escrow: s.escrow, rentPayer, lastBytes };
      return [archiveEscrowInstruction(s.deployment, target)];
    }
  }
};

/** The same as the service is asked for it. */
const preparationOf = (
  {
    agentFallbackAccount,
    merchantFallbackAccount,
  }: Pick<Situation, "agentFallbackAccount" | "merchantFallbackAccount">,
  operation: Operation,
  proof: s.SessionProof,
  sending: { readonly payer: string; readonly wantsTransaction: boolean; readonly bare: boolean },
): Preparation => {
  const [attestation, voucher] = s.sessionMessages(proof);
  const [claim, taken] = [
    readAttestationMessage(attestation.message),
    readVoucherMessage(voucher.message),
  ];
  if (claim === undefined || taken === undefined) throw new Error("no messages");
  const paid = {
    ...sending,
    merchantFallbackAccount,
    proofHash: s.PROOF,
    timestamp: formatUnixTime(claim.timestamp),
    amount: claim.total.toString(),
    deliveries: claim.deliveries,
    attestationSignature: encodeBase64(attestation.signature),
    voucher: {
      orders: taken.orders,
      total_stroops: taken.total.toString(),
      count: taken.count,
      closing: taken.isClosing,
      signature: encodeBase64(voucher.signature),
    },
  };
  switch (operation) {
    case "capture":
      return prepareCapture(s.escrow, paid);
    case "release":
      return prepareRelease(s.escrow, paid);
    case "close":
      return prepareClose(s.escrow, sending);
    case "cancel":
      return prepareCancel(s.escrow, sending);
    case "refund":
      return prepareRefund(s.escrow, { ...sending, agentFallbackAccount });
    case "rent":
      return prepareRent(s.escrow, sending);
    case "archive":
      return prepareArchive(s.escrow, sending);
  }
};

const payerOf = (operation: Operation, choice: RandomChoice): Wallet => {
  if (operation === "cancel") return s.merchant;
  return operation === "close" ? s.agent : choice.of(s.agent, s.stranger);
};

/** A proof for a session that can still be paid, and of an archived one any. */
const proofFor = ({ ledger, choice }: Situation, isFinal: boolean): s.SessionProof =>
  isWhole(ledger) ? randomProof(ledger, choice, isFinal) : { total: 1n, deliveries: 1, isFinal };

const COUNT = situations(120);

test(`in ${COUNT} random situations of sessions prepare returns instructions exactly when the ledger accepts them`, async () => {
  const taken = new Map<string, number>();
  for (let seed = 0; seed < COUNT; seed++) {
    if (seed % 50 === 0) await breathe();
    const at = situation(seed);
    const { choice, ledger, lastBytes } = at;
    const isOpen = isWhole(ledger) && s.readEscrow(ledger).state === "Pending";
    const operation = choice.oneIn(3)
      ? choice.of(...OPERATIONS)
      : isOpen
        ? choice.of("capture", "release", "release", "cancel", "close", "refund")
        : choice.of("refund", "rent", "archive");
    const proof = proofFor(at, operation === "release");
    const payer = payerOf(operation, choice);
    disturbPayer(ledger, choice, payer);
    const wantsTransaction = seed % 2 === 1;
    const sending = { payer: payer.address, wantsTransaction, bare: choice.oneIn(4) };
    const plain = plainOf(at, operation, proof, payer);
    const where = { seed, operation };
    const call = onLedger(ledger, preparationOf(at, operation, proof, sending), lastBytes);
    if ("_tag" in call) {
      const rule = "rule" in call ? call.rule : call._tag;
      // A transaction also costs a priority fee; the instructions alone do not.
      if (wantsTransaction && rule === "payer_cannot_pay") continue;
      const signers = signersOf(plain, payer);
      const fault = precheck(ledger, plain, signers);
      const [first, ...others] = signers;
      const held = ledger.account(s.escrow).lamports;
      const { refusal } = ledger.send(plain, [first, ...others]);
      const isMoot =
        operation === "rent" &&
        rule === "nothing_left" &&
        ledger.account(s.escrow).lamports === held;
      expect({ ...where, rule, refused: isMoot || refusal !== undefined }).toMatchObject({
        refused: true,
      });
      if (refusal === undefined)
        expect({ ...where, fault }).toEqual({ ...where, fault: undefined });
      continue;
    }
    const { before, instructions } = call;
    const asked = withPayer(instructions, payer.address);
    if (before === null) {
      const fault = precheck(ledger, asked, signersOf(asked, payer));
      expect({ ...where, fault }).toEqual({ ...where, fault: undefined });
    }
    // The test's ledger takes a blockhash once, so that what comes behind another transaction is signed anew.
    const transaction = before === null ? call.transaction : null;
    if (before !== null) ledger.do(withPayer(before.instructions, payer.address), [payer]);
    const refusal =
      transaction === null
        ? sendPrepared(ledger, call, payer, WALLETS).refusal
        : sendTransaction(ledger, transaction, WALLETS);
    expect({ ...where, refusal }).toEqual({ ...where, refusal: undefined });
    if (transaction !== null) expect(transaction.bytes.length).toBeLessThanOrEqual(1132);
    taken.set(operation, (taken.get(operation) ?? 0) + 1);
  }
  // Each operation is prepared and refused often enough for the test to be meaningful.
  expect([...taken.keys()].toSorted()).toEqual([...OPERATIONS].toSorted());
  expect([...taken.values()].reduce((sum, count) => sum + count, 0)).toBeLessThan(COUNT * 0.9);
});

test(`in ${COUNT} random transactions of several parts the relay's check refuses none that the ledger takes`, async () => {
  let [landed, caught, missed] = [0, 0, 0];
  for (let seed = 0; seed < COUNT; seed++) {
    if (seed % 50 === 0) await breathe();
    const at = situation(seed);
    const { choice, ledger } = at;
    const parts = Array.from({ length: 1 + choice.below(3) }, () => choice.of(...OPERATIONS));
    const plain = parts.flatMap((operation) =>
      plainOf(at, operation, proofFor(at, operation === "release"), s.stranger),
    );
    const all = choice.oneIn(6)
      ? [...plain, ed25519Instruction(s.sessionMessages({ total: 1n, deliveries: 1 })[0])]
      : plain;
    const signers = signersOf(all, s.stranger);
    const fault = precheck(ledger, all, signers);
    const [payer, ...others] = signers;
    const { refusal } = ledger.send(all, [payer, ...others]);
    if (refusal === undefined) {
      expect({ seed, parts, fault }).toEqual({ seed, parts, fault: undefined });
      landed++;
    } else if (fault === undefined) missed++;
    else caught++;
  }
  expect(landed).toBeGreaterThan(COUNT / 20);
  expect(caught).toBeGreaterThan(missed);
});

test("a frozen vault keeps nothing back where nothing leaves it", () => {
  const sending = { payer: s.stranger.address, wantsTransaction: true, bare: true };
  const captured = (total: bigint) => {
    const ledger = s.sessionLedger();
    const proof = { total, deliveries: 1 };
    ledger.do([s.proveInstruction(proof), s.captureInstruction()], [s.stranger]);
    freezeToken(ledger, s.vault);
    const at = { agentFallbackAccount: undefined, merchantFallbackAccount: undefined };
    const landed = (operation: "refund" | "release") => {
      const asked = preparationOf(at, operation, { ...proof, isFinal: true }, sending);
      const call = onLedger(ledger, asked);
      if ("_tag" in call) return "rule" in call ? call.rule : call._tag;
      return call.transaction && sendTransaction(ledger, call.transaction, WALLETS);
    };
    return { ledger, landed };
  };
  // Settled with what was captured, the agent's rest waits for the thaw.
  const part = captured(1n);
  expect(part.landed("release")).toBeUndefined();
  expect(part.landed("refund")).toBe("vault_frozen");
  const whole = captured(s.AMOUNT);
  whole.ledger.time = s.START + BigInt(s.TTL_SECONDS);
  expect(whole.landed("refund")).toBeUndefined();
  expect(s.readEscrow(whole.ledger).state).toBe("Fulfilled");
});

test("who pays for an account in a transaction before is not helped by the rent that comes back behind it", () => {
  const sending = { payer: s.agent.address, wantsTransaction: true, bare: false };
  const none = { agentFallbackAccount: undefined, merchantFallbackAccount: undefined };
  const asked = (ledger: TestLedger, lamports: bigint | null) => {
    if (lamports !== null) ledger.set({ ...ledger.account(s.agent.address), lamports });
    const proof = { total: 1n, deliveries: 1, isFinal: true };
    const call = onLedger(ledger, preparationOf(none, "release", proof, sending));
    if ("_tag" in call) throw new Error("rule" in call ? String(call.rule) : call._tag);
    return call;
  };
  const parted = () => {
    const ledger = s.sessionLedger();
    const { address } = ledger.account(s.merchantTokens);
    ledger.put(address, SYSTEM_PROGRAM, new Uint8Array());
    ledger.set({ ...ledger.account(address), lamports: 0n });
    return ledger;
  };
  const { before, cost } = asked(parted(), null);
  expect([before === null, cost.deposits.length]).toEqual([false, 1]);
  const least = cost.fee + (cost.deposits[0]?.lamports ?? 0n) + 890_880n;
  for (const lamports of [least - 1n, least - 890_880n])
    expect(() => void asked(parted(), lamports)).toThrow("payer_cannot_pay");
  const ledger = parted();
  for (const lamports of [least, null]) {
    const call = asked(ledger, lamports);
    const next = call.before?.transaction ?? call.transaction;
    if (next === null) throw new Error("no transaction");
    expect(sendTransaction(ledger, next, WALLETS)).toBeUndefined();
  }
  expect(s.readEscrow(ledger).state).toBe("PartiallyFulfilled");
});
