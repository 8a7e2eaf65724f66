import { join } from "node:path";
import { HTTPFacilitatorClient, x402ResourceServer } from "@x402/core/server";
import { wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { decodePaymentResponseHeader } from "@x402/core/http";
import { type LocalKey, localKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { keySigner } from "../../../client/node/key-file.ts";
import {
  type BuyerOptions,
  buyerScheme,
  networkOf,
  type SellerOptions,
  sellerScheme,
  wholeAnswers,
} from "../../../client/x402.ts";
import { withDemoLedger } from "../../app/support/demo-ledger.ts";
import {
  quietEnvironment,
  runService,
  temporaryDirectory,
  untilReady,
} from "../../app/support/running-service.ts";

/** The keys of the tests' parties; the demo ledger knows them. */
export const AGENT = localKey("agent/planner");
export const WALLET = localKey("merchant/forecast");
export const ATTESTOR = localKey("attestor/forecast");

/** What settling said, of an answer's PAYMENT-RESPONSE header. */
export const settleResponse = (answer: Response) => {
  const header = answer.headers.get("payment-response");
  if (header === null) throw new Error(`no PAYMENT-RESPONSE: ${answer.status}`);
  return decodePaymentResponseHeader(header) as ReturnType<typeof decodePaymentResponseHeader> & {
    readonly errorMessage?: string;
    readonly extra?: Readonly<Record<string, string | null>>;
  };
};

/** A service on a ledger with the demo data, and the two sides of x402 for it. */
export const x402Fixture = async () => {
  const directory = await temporaryDirectory();
  const service = await runService(quietEnvironment(withDemoLedger(join(directory.path, "s"))));
  await untilReady(service.url);
  const trust = await (await fetch(`${service.url}/.well-known/evidence-trust.json`)).text();
  const network = networkOf(trust);
  const facilitator = new HTTPFacilitatorClient({ url: `${service.url}/x402` });
  const key = ({ seed }: LocalKey) => keySigner(seed);
  const scheme = (options: Partial<SellerOptions> = {}) =>
    sellerScheme(service.url, { trust, attestor: key(ATTESTOR), payer: key(WALLET), ...options });

  /** The escrows that were paid into by a buyer, in order. */
  const buyer = (options: Partial<BuyerOptions> = {}) => {
    const escrows: Array<string> = [];
    const headers: Array<string> = [];
    const client = new x402Client()
      .register(network, buyerScheme(service.url, { trust, signer: key(AGENT), ...options }))
      .onAfterPaymentCreation(({ paymentPayload }) => {
        escrows.push(String(paymentPayload.payload["escrow"]));
        return Promise.resolve();
      });
    const listening = (request: Request | URL | string, init?: RequestInit) => {
      const sent = new Request(request, init);
      const header = sent.headers.get("payment-signature");
      if (header !== null) headers.push(header);
      return fetch(sent);
    };
    return {
      client,
      escrows,
      /** The payments that were sent, as headers. */
      headers,
      pay: wrapFetchWithPayment(wholeAnswers(listening as typeof fetch), client),
    };
  };

  return {
    service,
    trust,
    network,
    facilitator,
    scheme,
    buyer,
    /** A resource server of x402's own, with the scheme. */
    resources: (options: Partial<SellerOptions> = {}) =>
      new x402ResourceServer(facilitator).register(network, scheme(options)),
    /** One priced offer. */
    offer: (price = "$0.01", more: { maxTimeoutSeconds?: number; payTo?: string } = {}) => ({
      scheme: "auth-capture",
      network,
      payTo: WALLET.address as string,
      price,
      maxTimeoutSeconds: 3600,
      ...more,
    }),
    escrow: async (address: string) => {
      const answer = await fetch(`${service.url}/v1/escrows/${address}`);
      const { data } = (await answer.json()) as { readonly data: Record<string, string> };
      return data;
    },
    stop: async () => {
      await service.stop();
      await directory.remove();
    },
  };
};
