import { expect } from "bun:test";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { LOCAL_USDC_MINT } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { keySigner } from "../../../client/node/key-file.ts";
import { buyerScheme } from "../../../client/x402.ts";
import { held } from "./held.ts";
import { AGENT, ATTESTOR, WALLET, x402Fixture } from "./x402-fixture.ts";

/** The x402 fixture, with payments that are made and settled one step at a time. */
export const paymentSteps = async () => {
  const x402 = await x402Fixture();

  const inAnHour = Math.floor(Date.now() / 1000) + 3600;
  /** A sound offer, but for the members given. */
  const requirements = (more: Partial<PaymentRequirements> = {}): PaymentRequirements => ({
    scheme: "auth-capture",
    network: x402.network,
    asset: LOCAL_USDC_MINT,
    amount: "10000",
    payTo: WALLET.address,
    maxTimeoutSeconds: 3600,
    ...more,
    extra: {
      custody: "EvidenceCustody1111111111111111111111111111",
      captureAuthorizer: ATTESTOR.address,
      request: "GET http://127.0.0.1:1/quotes",
      ...held(inAnHour),
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

  /** Settles a payment before the handler runs. */
  const settle = (payment: PaymentPayload, asked: PaymentRequirements) =>
    x402.facilitator.settle(payment, asked);

  /** Whether the payment's escrow is on the ledger. */
  const isThere = async ({ payload }: PaymentPayload): Promise<boolean> =>
    (await fetch(`${x402.service.url}/v1/escrows/${String(payload["escrow"])}`)).status === 200;

  return { ...x402, inAnHour, requirements, buyerScheme: buyer, paymentFor, settle, isThere };
};

/** Holds a refusal to one line that names the mistake, then the cure. */
export const oneLine = (message: string | undefined): void => {
  expect(message ?? "").toMatch(/^[^\n]+\. [^\n]+\.$/);
};
