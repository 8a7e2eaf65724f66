import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { PaymentRequirements } from "@x402/core/types";
import { ed25519 } from "@noble/curves/ed25519.js";
import { localKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { parseAddress } from "../../../core/domain/address.ts";
import { MEMO_PROGRAM } from "../../../core/protocol/addresses/well-known-addresses.ts";
import {
  decodeWireTransaction,
  openedInstructions,
} from "../../../core/protocol/transaction/wire-transaction.ts";
import { unsignedTransaction } from "../../../core/protocol/transaction/unsigned-transaction.ts";
import { held } from "./held.ts";
import { oneLine, paymentSteps } from "./payment-steps.ts";
import { AGENT } from "./x402-fixture.ts";

let x402: Awaited<ReturnType<typeof paymentSteps>>;
beforeAll(async () => {
  x402 = await paymentSteps();
}, 60_000);
afterAll(() => x402.stop(), 60_000);

const OTHER = localKey("merchant/skyline");

/** The signed transaction with a memo behind its instructions, signed anew by the agent. */
const withMemo = (base64: string): string => {
  const decoded = decodeWireTransaction(Buffer.from(base64, "base64"));
  const blockhash = "value" in decoded ? parseAddress(decoded.value.blockhash) : undefined;
  if (!("value" in decoded) || blockhash === undefined) throw new Error("no transaction");
  const memo = { programAddress: MEMO_PROGRAM, accounts: [], data: new TextEncoder().encode("hi") };
  const { bytes, message } = unsignedTransaction({
    payer: AGENT.address,
    instructions: [...openedInstructions(decoded.value), memo],
    blockhash,
  });
  const signed = Uint8Array.from(bytes);
  signed.set(ed25519.sign(message, AGENT.seed), 1);
  return Buffer.from(signed).toString("base64");
};

describe("a payment with another seller's requirements is refused, and nothing is locked", () => {
  const others: Readonly<Record<string, () => Partial<PaymentRequirements>>> = {
    amount: () => ({ amount: "9999" }),
    "more than was accepted": () => ({ amount: "10001" }),
    mint: () => ({ asset: "So11111111111111111111111111111111111111112" }),
    merchant: () => ({ payTo: OTHER.address }),
    network: () => ({ network: "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1" }),
    "time to live": () => ({ maxTimeoutSeconds: 60 }),
    resource: () => ({ extra: { request: "GET http://127.0.0.1:1/other" } }),
    method: () => ({ extra: { request: "POST http://127.0.0.1:1/quotes" } }),
    attestor: () => ({ extra: { captureAuthorizer: OTHER.address } }),
  };
  for (const [what, more] of Object.entries(others))
    test(what, async () => {
      const accepted = x402.requirements();
      const asked = x402.requirements(more());
      const payment = await x402.paymentFor(accepted);
      const stale = await x402.settle(payment, asked);
      expect(stale).toMatchObject({ success: false, errorReason: "requirements_mismatch" });
      oneLine(stale.errorMessage);
      // Rewritten so that it accepts what is asked, it names another escrow than it pays into.
      const rewritten = await x402.settle({ ...payment, accepted: asked }, asked);
      expect(rewritten.success).toBe(false);
      expect(["another_escrow", "unsupported_network", "invalid_requirements"]).toContain(
        rewritten.errorReason ?? "",
      );
      oneLine(rewritten.errorMessage);
      expect(await x402.isThere(payment)).toBe(false);
    });
});

test("an offer that is accepted with a later end than the seller gives is refused, one with an earlier end is paid", async () => {
  const accepted = x402.requirements();
  const payment = await x402.paymentFor(accepted);
  const offered = (seconds: number) => x402.requirements({ extra: held(x402.inAnHour + seconds) });
  const refused = await x402.settle(payment, offered(-61));
  expect(refused).toMatchObject({ success: false, errorReason: "requirements_mismatch" });
  expect(await x402.isThere(payment)).toBe(false);
  expect(await x402.settle(payment, offered(30))).toMatchObject({ success: true });
  // The same offer made again is paid by the escrow that is there, which ends before it.
  const { create: _, ...payload } = payment.payload;
  const again = { ...payment, payload, accepted: offered(30) };
  expect(await x402.settle(again, offered(30))).toMatchObject({ success: true, transaction: "" });
  const early = { ...again, accepted: offered(-30) };
  expect(await x402.settle(early, offered(30))).toMatchObject({
    success: false,
    errorReason: "another_payment",
  });
}, 60_000);

describe("a transaction that is not the payment's is refused, and nothing is sent", () => {
  const swapped = async (other: Partial<PaymentRequirements>) => {
    const [payment, from] = await Promise.all([
      x402.paymentFor(x402.requirements()),
      x402.paymentFor(x402.requirements(other)),
    ]);
    const payload = { ...payment.payload, create: from.payload["create"] };
    return { payment, answer: await x402.settle({ ...payment, payload }, x402.requirements()) };
  };
  const cases: Readonly<Record<string, readonly [() => Partial<PaymentRequirements>, string]>> = {
    "another amount": [() => ({ amount: "1" }), "amount asked 10000, signed 1"],
    "another end": [() => ({ extra: held(x402.inAnHour - 1) }), "; end asked 1"],
    "another nonce": [() => ({}), "task hash asked"],
  };
  for (const [what, [other, line]] of Object.entries(cases))
    test(what, async () => {
      const { payment, answer } = await swapped(other());
      expect(answer).toMatchObject({ success: false, errorReason: "another_transaction" });
      expect(answer.errorMessage).toContain(line);
      oneLine(answer.errorMessage);
      expect(await x402.isThere(payment)).toBe(false);
    });

  test("another nonce than the signed one", async () => {
    const payment = await x402.paymentFor(x402.requirements());
    const payload = { ...payment.payload, nonce: "another nonce altogether" };
    const answer = await x402.settle({ ...payment, payload }, x402.requirements());
    expect(answer).toMatchObject({ success: false, errorReason: "another_escrow" });
    expect(await x402.isThere(payment)).toBe(false);
  });

  test("an extra instruction", async () => {
    const payment = await x402.paymentFor(x402.requirements());
    const create = withMemo(String(payment.payload["create"]));
    const answer = await x402.settle(
      { ...payment, payload: { ...payment.payload, create } },
      x402.requirements(),
    );
    expect(answer).toMatchObject({ success: false, errorReason: "another_transaction" });
    expect(answer.errorMessage).toContain("2 instructions beside the compute budget, not 1");
    expect(await x402.isThere(payment)).toBe(false);
  });

  test("a signature that does not verify, a missing one, and text", async () => {
    const payment = await x402.paymentFor(x402.requirements());
    const bytes = Buffer.from(String(payment.payload["create"]), "base64");
    const flipped = Buffer.from(bytes);
    flipped[1] = (flipped[1] ?? 0) ^ 1;
    const blank = Buffer.from(bytes).fill(0, 1, 65);
    const reasons = await Promise.all(
      [flipped.toString("base64"), blank.toString("base64"), "not base64"].map(async (create) => {
        const payload = { ...payment.payload, create };
        const answer = await x402.settle({ ...payment, payload }, x402.requirements());
        oneLine(answer.errorMessage);
        return answer.errorReason;
      }),
    );
    expect(reasons).toEqual(["signature_invalid", "signature_missing", "another_transaction"]);
    expect(await x402.isThere(payment)).toBe(false);
  });
});

test("what a buyer adds for the seller is refused by the seller, and an unknown operation and a refund by the facilitator", async () => {
  const payment = await x402.paymentFor(x402.requirements());
  const hooks = x402.scheme().schemeHooks;
  for (const member of ["type", "transaction", "anything"]) {
    const payload = { ...payment.payload, [member]: "void" };
    const refused = await hooks?.onBeforeSettle?.({
      paymentPayload: { ...payment, payload },
      requirements: x402.requirements(),
      declaredExtensions: {},
      phase: "before-handler",
    });
    expect(refused).toMatchObject({ abort: true, reason: "invalid_payload" });
  }
  const unknown = await x402.facilitator.settle(
    { ...payment, payload: { ...payment.payload, type: "later" } },
    x402.requirements(),
  );
  expect(unknown).toMatchObject({ success: false, errorReason: "invalid_payload" });
  const refund = await x402.facilitator.settle(
    { ...payment, payload: { ...payment.payload, type: "refund" } },
    x402.requirements(),
  );
  expect(refund).toMatchObject({ success: false, errorReason: "unsupported_operation" });
  oneLine(refund.errorMessage);
  const release = {
    ...payment.payload,
    type: "capture",
    transaction: payment.payload["create"],
  };
  const unpaid = await x402.facilitator.settle(
    { ...payment, payload: release },
    x402.requirements(),
  );
  expect(unpaid).toMatchObject({ success: false, errorReason: "payment_missing" });
  expect(await x402.isThere(payment)).toBe(false);
});

test("an answer names no transaction that its payer did not sign for the payment", async () => {
  const [earlier, payment] = [
    await x402.paymentFor(x402.requirements()),
    await x402.paymentFor(x402.requirements()),
  ];
  const { transaction } = await x402.settle(earlier, x402.requirements());
  expect((await x402.settle(payment, x402.requirements())).transaction).not.toBe(transaction);
  const another = Buffer.from(String(earlier.payload["create"]), "base64").subarray(1, 65);
  const create = Buffer.from(String(payment.payload["create"]), "base64");
  create.set(another, 1);
  const payload = { ...payment.payload, create: create.toString("base64") };
  const answer = await x402.settle({ ...payment, payload }, x402.requirements());
  expect(answer).toMatchObject({ success: true, transaction: "" });
}, 60_000);
