import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { ed25519 } from "@noble/curves/ed25519.js";
import { LOCAL_USDC_MINT, localKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { keySigner } from "../../../client/node/key-signer.ts";
import { connectMerchant } from "../../../client/merchant.ts";
import { systemClock } from "../../../client/service/client-clock.ts";
import { buyerScheme, SettlementError } from "../../../client/x402.ts";
import { parseAddress } from "../../../core/domain/address.ts";
import { MEMO_PROGRAM } from "../../../core/protocol/addresses/well-known-addresses.ts";
import { openedInstructions } from "../../../core/protocol/transaction/opened-instructions.ts";
import { unsignedTransaction } from "../../../core/protocol/transaction/unsigned-transaction.ts";
import { decodeWireTransaction } from "../../../core/protocol/transaction/wire-transaction.ts";
import { AGENT, ATTESTOR, WALLET, x402Fixture } from "./x402-fixture.ts";

let x402: Awaited<ReturnType<typeof x402Fixture>>;
beforeAll(async () => {
  x402 = await x402Fixture();
}, 60_000);
afterAll(() => x402.stop(), 60_000);

const OTHER = localKey("merchant/skyline");

const requirements = (more: Partial<PaymentRequirements> = {}): PaymentRequirements => ({
  scheme: "escrow",
  network: x402.network,
  asset: LOCAL_USDC_MINT,
  amount: "10000",
  payTo: WALLET.address,
  maxTimeoutSeconds: 3600,
  ...more,
  extra: {
    custody: "EvidenceCustody1111111111111111111111111111",
    attestor: ATTESTOR.address,
    request: "GET http://127.0.0.1:1/quotes",
    paymentFlow: "escrow",
    ...more.extra,
  },
});

const buyer = (more: object = {}) =>
  buyerScheme(x402.service.url, { trust: x402.trust, signer: keySigner(AGENT.seed), ...more });

/** A sound payment for the requirements. */
const paymentFor = async (accepted: PaymentRequirements): Promise<PaymentPayload> => ({
  ...(await buyer().createPaymentPayload(2, accepted)),
  accepted,
});

const settle = (payment: PaymentPayload, asked: PaymentRequirements) =>
  x402.facilitator.settle(
    { ...payment, payload: { ...payment.payload, phase: "before-handler" } },
    asked,
  );

/** Whether the payment's escrow is on the ledger. */
const isThere = async ({ payload }: PaymentPayload): Promise<boolean> =>
  (await fetch(`${x402.service.url}/v1/escrows/${String(payload["escrow"])}`)).status === 200;

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

const oneLine = (message: string | undefined): void => {
  expect(message ?? "").toMatch(/^[^\n]+\. [^\n]+\.$/);
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
    attestor: () => ({ extra: { attestor: OTHER.address } }),
  };
  for (const [what, more] of Object.entries(others))
    test(what, async () => {
      const accepted = requirements();
      const asked = requirements(more());
      const payment = await paymentFor(accepted);
      const stale = await settle(payment, asked);
      expect(stale).toMatchObject({ success: false, errorReason: "requirements_mismatch" });
      oneLine(stale.errorMessage);
      // Rewritten so that it accepts what is asked, it names another escrow than it pays into.
      const rewritten = await settle({ ...payment, accepted: asked }, asked);
      expect(rewritten.success).toBe(false);
      expect(["another_escrow", "unsupported_network", "invalid_requirements"]).toContain(
        rewritten.errorReason ?? "",
      );
      oneLine(rewritten.errorMessage);
      expect(await isThere(payment)).toBe(false);
    });
});

describe("a transaction that is not the payment's is refused, and nothing is sent", () => {
  const swapped = async (other: Partial<PaymentRequirements>) => {
    const [payment, from] = await Promise.all([
      paymentFor(requirements()),
      paymentFor(requirements(other)),
    ]);
    const payload = { ...payment.payload, create: from.payload["create"] };
    return { payment, answer: await settle({ ...payment, payload }, requirements()) };
  };
  const cases: Readonly<Record<string, readonly [() => Partial<PaymentRequirements>, string]>> = {
    "another amount": [() => ({ amount: "1" }), "amount asked 10000, signed 1"],
    "another time to live": [() => ({ maxTimeoutSeconds: 1 }), "ttl asked 3600, signed 1"],
    "another nonce": [() => ({}), "task hash asked"],
  };
  for (const [what, [other, line]] of Object.entries(cases))
    test(what, async () => {
      const { payment, answer } = await swapped(other());
      expect(answer).toMatchObject({ success: false, errorReason: "another_transaction" });
      expect(answer.errorMessage).toContain(line);
      oneLine(answer.errorMessage);
      expect(await isThere(payment)).toBe(false);
    });

  test("another nonce than the signed one", async () => {
    const payment = await paymentFor(requirements());
    const payload = { ...payment.payload, nonce: "another nonce altogether" };
    const answer = await settle({ ...payment, payload }, requirements());
    expect(answer).toMatchObject({ success: false, errorReason: "another_escrow" });
    expect(await isThere(payment)).toBe(false);
  });

  test("an extra instruction", async () => {
    const payment = await paymentFor(requirements());
    const create = withMemo(String(payment.payload["create"]));
    const answer = await settle(
      { ...payment, payload: { ...payment.payload, create } },
      requirements(),
    );
    expect(answer).toMatchObject({ success: false, errorReason: "another_transaction" });
    expect(answer.errorMessage).toContain("2 instructions beside the compute budget, not 1");
    expect(await isThere(payment)).toBe(false);
  });

  test("a signature that does not verify, a missing one, and text", async () => {
    const payment = await paymentFor(requirements());
    const bytes = Buffer.from(String(payment.payload["create"]), "base64");
    const flipped = Buffer.from(bytes);
    flipped[1] = (flipped[1] ?? 0) ^ 1;
    const blank = Buffer.from(bytes).fill(0, 1, 65);
    const reasons = await Promise.all(
      [flipped.toString("base64"), blank.toString("base64"), "not base64"].map(async (create) => {
        const payload = { ...payment.payload, create };
        const answer = await settle({ ...payment, payload }, requirements());
        oneLine(answer.errorMessage);
        return answer.errorReason;
      }),
    );
    expect(reasons).toEqual(["signature_invalid", "signature_missing", "another_transaction"]);
    expect(await isThere(payment)).toBe(false);
  });
});

test("settling twice does it once, and a spent payment pays for nothing more", async () => {
  const payment = await paymentFor(requirements());
  const before = await x402.facilitator.verify(payment, requirements());
  expect(before).toMatchObject({ isValid: true, payer: AGENT.address });
  const first = await settle(payment, requirements());
  const again = await settle(payment, requirements());
  expect(first).toMatchObject({ success: true, amount: "10000", extra: { state: "Pending" } });
  expect(again).toEqual(first);
  const held = String(payment.payload["escrow"]);
  const { create: _, ...bare } = payment.payload;
  expect(await settle({ ...payment, payload: bare }, requirements())).toMatchObject({
    success: true,
    transaction: "",
  });

  const merchant = connectMerchant(x402.service.url, { trust: x402.trust });
  const wallet = {
    publicKey: WALLET.address,
    sign: (bytes: Uint8Array) => Promise.resolve(WALLET.sign(bytes)),
  };
  const cancelled = await merchant.cancel({ escrow: held, wallet });
  expect(cancelled.signature).toBeString();
  const spent = await settle(payment, requirements());
  expect(spent).toMatchObject({
    success: false,
    errorReason: "payment_spent",
    extra: { escrow: held },
  });
  expect(await x402.facilitator.verify(payment, requirements())).toMatchObject({
    isValid: false,
    invalidReason: "payment_spent",
  });
}, 60_000);

test("what a buyer adds for the seller is refused by the seller, and an unknown phase by the facilitator", async () => {
  const payment = await paymentFor(requirements());
  const hooks = x402.scheme().schemeHooks;
  for (const member of ["phase", "release", "cancel", "anything"]) {
    const payload = { ...payment.payload, [member]: "cancel" };
    const refused = await hooks?.onBeforeSettle?.({
      paymentPayload: { ...payment, payload },
      requirements: requirements(),
      declaredExtensions: {},
      phase: "before-handler",
    });
    expect(refused).toMatchObject({ abort: true, reason: "invalid_payload" });
  }
  const unknown = await x402.facilitator.settle(
    { ...payment, payload: { ...payment.payload, phase: "later" } },
    requirements(),
  );
  expect(unknown).toMatchObject({ success: false, errorReason: "invalid_payload" });
  const release = {
    ...payment.payload,
    phase: "after-handler",
    release: payment.payload["create"],
  };
  const unpaid = await x402.facilitator.settle({ ...payment, payload: release }, requirements());
  expect(unpaid).toMatchObject({ success: false, errorReason: "payment_missing" });
  expect(await isThere(payment)).toBe(false);
});

test("malformed JSON and malformed bodies are problems that name the mistake", async () => {
  const post = (body: string) =>
    fetch(`${x402.service.url}/x402/settle`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
  const answers = await Promise.all(['{"x402Version":2,', "{}", "[]"].map(post));
  expect(answers.map(({ status }) => status)).toEqual([400, 422, 422]);
  const [malformed] = await Promise.all(answers.map((answer) => answer.json()));
  expect(malformed).toMatchObject({ code: "malformed_json" });
});

describe("a buyer refuses before it signs, in one line", () => {
  const spend = { maxPerEscrow: "0.005" };
  const cases: ReadonlyArray<
    readonly [string, object, Partial<PaymentRequirements>, string, RegExp]
  > = [
    [
      "another ledger",
      {},
      { network: "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1" },
      "unsupported_network",
      /the ledger here is solana:/,
    ],
    [
      "another custody program",
      {},
      { extra: { custody: OTHER.address } },
      "another_custody",
      /Do not pay/,
    ],
    [
      "a mint that it does not trust",
      {},
      { asset: OTHER.address },
      "unknown_mint",
      /does not list/,
    ],
    ["more than it may spend", { spend }, {}, "spend_refused", /more than 0.005/],
    [
      "a merchant that it may not pay",
      { spend: { merchants: [OTHER.address] } },
      {},
      "spend_refused",
      /not among the merchants/,
    ],
    ["an offer that it judges bad", { judge: () => "Too dear." }, {}, "offer_refused", /Too dear/],
    [
      "another seller's offer, handed on by the site that it calls",
      { origins: ["http://127.0.0.1:2"], spend: { merchants: [WALLET.address] } },
      {},
      "offer_refused",
      /http:\/\/127\.0\.0\.1:1 is none of the origins/,
    ],
    ["a nonce that can be guessed", { nonce: () => "order-1" }, {}, "invalid_nonce", /at least 16/],
    ["no amount", {}, { amount: "0" }, "invalid_requirements", /amount is no number/],
    ["no wallet", {}, { payTo: "nobody" }, "invalid_requirements", /payTo is no/],
    [
      "a time to live beyond seven days",
      {},
      { maxTimeoutSeconds: 604_801 },
      "invalid_requirements",
      /maxTimeoutSeconds must be/,
    ],
  ];
  for (const [what, options, more, code, line] of cases)
    test(what, async () => {
      let signed = 0;
      const signer = {
        address: AGENT.address,
        signTransactions: () => {
          signed += 1;
          return Promise.reject(new Error("signed"));
        },
      };
      const failure: unknown = await buyer({ signer, ...options })
        .createPaymentPayload(2, requirements(more))
        .catch((cause: unknown) => cause);
      if (!(failure instanceof SettlementError)) throw failure;
      expect([failure.code, signed]).toEqual([code, 0]);
      expect(failure.message).toMatch(line);
      oneLine(failure.message);
    });

  test("an origin that is none", () => {
    for (const origin of ["127.0.0.1:1", "http://127.0.0.1:1/quotes", "*", "null"])
      expect(() => buyer({ origins: [origin] })).toThrow(`${origin} is no origin`);
  });

  test("an offer for a request to a named origin is paid", async () => {
    const accepted = requirements();
    const paid = await buyer({ origins: ["http://127.0.0.1:1"] }).createPaymentPayload(2, accepted);
    expect(paid.payload["create"]).toBeString();
  });

  test("a service that prepares another transaction", async () => {
    const lying = async (url: string, init: RequestInit): Promise<Response> => {
      const body = (await new Request(url, init).json()) as object;
      return fetch(url, { ...init, body: JSON.stringify({ ...body, amount_stroops: "20000" }) });
    };
    const failure: unknown = await buyer({ fetch: lying })
      .createPaymentPayload(2, requirements())
      .catch((cause: unknown) => cause);
    expect(failure).toBeInstanceOf(SettlementError);
    expect((failure as SettlementError).code).toBe("prepared_otherwise");
  });
});

test("the same nonce is never paid twice: the second payment names the escrow that is there", async () => {
  const nonce = () => "an order that nobody can guess";
  const payment = {
    ...(await buyer({ nonce }).createPaymentPayload(2, requirements())),
    accepted: requirements(),
  };
  expect(await settle(payment, requirements())).toMatchObject({ success: true });
  const again = {
    ...(await buyer({ nonce }).createPaymentPayload(2, requirements())),
    accepted: requirements(),
  };
  const { create: _, ...same } = payment.payload;
  expect(again.payload).toEqual(same);
  expect(await settle(again, requirements())).toMatchObject({ success: true });
});

test("a sponsor pays fee and rent, the agent the price", async () => {
  const payer = keySigner(WALLET.seed);
  const accepted = requirements();
  const payment = { ...(await buyer({ payer }).createPaymentPayload(2, accepted)), accepted };
  expect(await settle(payment, accepted)).toMatchObject({ success: true, payer: AGENT.address });
  const escrow = await x402.escrow(String(payment.payload["escrow"]));
  expect(escrow["rent_payer"]).toBe(WALLET.address);
});

test("the facilitator names its programs, and has no signers", async () => {
  const { kinds, signers } = await x402.facilitator.getSupported();
  expect(signers).toEqual({});
  expect(kinds).toMatchObject([{ x402Version: 2, scheme: "escrow", network: x402.network }]);
});

/** The release that a seller of its own process signs after its handler answered, in the same second as any other. */
const releaseOf = async (payment: PaymentPayload): Promise<PaymentPayload> => {
  const clock = { ...systemClock, nowMs: () => 1_795_000_000_000 };
  const members = await x402.scheme({ clock }).enrichSettlementPayload?.({
    paymentPayload: payment,
    requirements: requirements(),
    declaredExtensions: {},
    phase: "after-handler",
    transportContext: {
      request: { adapter: { getMethod: () => "GET", getUrl: () => "http://127.0.0.1:1/quotes" } },
      responseBody: new TextEncoder().encode("the same answer"),
    },
  });
  return { ...payment, payload: { ...payment.payload, ...members } };
};

test("of two processes that both delivered for one payment, only the one whose proof released it is told that it is paid", async () => {
  const payment = await paymentFor(requirements());
  expect(await settle(payment, requirements())).toMatchObject({ success: true });
  const [one, other] = [await releaseOf(payment), await releaseOf(payment)];
  const paid = await x402.facilitator.settle(one, requirements());
  expect(paid).toMatchObject({ success: true, amount: "10000", extra: { state: "Fulfilled" } });
  expect(await x402.facilitator.settle(one, requirements())).toEqual(paid);
  const refused = await x402.facilitator.settle(other, requirements());
  expect(refused).toMatchObject({ success: false, errorReason: "payment_spent" });
  oneLine(refused.errorMessage);
}, 60_000);

test("an answer names no transaction that its payer did not sign for the payment", async () => {
  const [earlier, payment] = [await paymentFor(requirements()), await paymentFor(requirements())];
  const { transaction } = await settle(earlier, requirements());
  expect((await settle(payment, requirements())).transaction).not.toBe(transaction);
  const another = Buffer.from(String(earlier.payload["create"]), "base64").subarray(1, 65);
  const create = Buffer.from(String(payment.payload["create"]), "base64");
  create.set(another, 1);
  const payload = { ...payment.payload, create: create.toString("base64") };
  const answer = await settle({ ...payment, payload }, requirements());
  expect(answer).toMatchObject({ success: true, transaction: "" });
}, 60_000);
