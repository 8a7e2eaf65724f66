import type { ServiceStatus } from "../../client/generated/contract.ts";
import { dataBy, requestOf } from "../../client/service/operation.ts";
import { connect, type SettlementClient, SettlementError } from "../../client/index.ts";
import { connectMerchant, type MerchantClient } from "../../client/merchant.ts";
import { deploymentIn } from "../../client/pay/payment-terms.ts";
import { policyIn } from "../../client/pinned-policy.ts";
import type { Fetch } from "../../client/service/fetch-directly.ts";
import { problemOf, type Requests, requestsTo } from "../../client/service/requests.ts";
import type { MessageSigner } from "../../client/signing/sign-transaction.ts";
import { type Address, parseAddress } from "../../core/domain/address.ts";
import { listedMint, type SupportedMint } from "../../core/domain/supported-mint.ts";
import { eventually, failed } from "./expected.ts";
import { type DemoFunds, localFunds, type Parties } from "./local-funds.ts";
import { type Narrator, narratingFetch, narratingSigner } from "./narrator.ts";

/** A first answer may take as long as the client gives one. */
const FIRST_ANSWER_MS = 45_000;
/** A busy machine makes a status late, and a late part counts as degraded. */
const ONLINE_SECONDS = 30;

/** Where the demo's money comes from and what it pays in. */
export type DemoOptions = {
  /** The mint whose deliveries count at the service when left out. */
  readonly mint?: Address | undefined;
  /** The local ledger's faucet when left out. */
  readonly funds?: DemoFunds | undefined;
};

/** The parties of the demo, and the service as they see it. */
export type Stage = {
  readonly parties: Parties;
  readonly mint: SupportedMint;
  /** The agent's client, and the passer-by's. */
  readonly client: SettlementClient;
  readonly shop: MerchantClient;
  /** Questions of the demo itself. */
  readonly requests: Requests;
  readonly narrator: Narrator;
  /** A party's key that says what it signs. */
  readonly signer: (who: keyof Parties, what: string) => MessageSigner;
};

/**
 * The service's status once it is online. Nobody waits for a service that gives no answer at all. @throws
 * SettlementError
 */
const expectOnline = async (
  url: string,
  tell: Fetch,
  requests: Requests,
  hasFunds: boolean,
): Promise<ServiceStatus> => {
  await tell(`${url}/v1/status`, { signal: AbortSignal.timeout(FIRST_ANSWER_MS) }).catch(
    (cause: unknown) => {
      // A redirect says itself what to do.
      if (cause instanceof SettlementError) throw cause;
      throw new SettlementError(
        "service_unreachable",
        `No service answers at ${url}.`,
        "Start one there, or give its --service.",
        { cause },
      );
    },
  );
  const ask = (signal?: AbortSignal) => dataBy(requests, "GET /v1/status", {}, { signal });
  const { cluster } = (await ask()).network;
  if (cluster !== "localnet" && !hasFunds)
    throw failed(
      `The service works on ${cluster}, which has no faucet for tokens.`,
      "Add --payer-key FILE and --mint ADDRESS.",
    );
  return eventually(
    "the service is online",
    ONLINE_SECONDS,
    ask,
    // The trust document names the log's witnesses once the log has signed.
    ({ status, log }) => status === "online" && log?.state !== "starting",
  );
};

/** The mint to pay in, with its decimals by the pinned document. @throws SettlementError */
const mintToPayIn = (
  named: Address | undefined,
  status: ServiceStatus,
  listed: ReadonlyArray<SupportedMint>,
): SupportedMint => {
  const address = named ?? parseAddress(status.settlement_mint ?? "");
  if (address === undefined)
    throw failed("The service knows no settlement mint.", "Give --mint ADDRESS.");
  const mint = listedMint(listed, address);
  if (mint === undefined)
    throw failed(
      `The trust document does not list the mint ${address}, so its decimals are not known.`,
      "Name it in the service's SUPPORTED_MINTS, or give a --mint that is listed.",
    );
  return mint;
};

/** Reads what the service is, pins what is trusted of it, and makes funded parties. @throws SettlementError */
export const openStage = async (
  url: string,
  narrator: Narrator,
  { mint: named, funds }: DemoOptions = {},
): Promise<Stage> => {
  const tell = narratingFetch(narrator);
  const requests = requestsTo(url, tell);
  narrator.step(
    "Where are we?",
    "The service says which ledger and which programs it works with. Without --payer-key this demo needs the local\nledger, because it takes play money from that ledger's faucet.",
  );
  const status = await expectOnline(url, tell, requests, funds !== undefined);
  narrator.result(`online on ${status.network.cluster}, ledger ${status.network.genesis_hash}`);

  narrator.step(
    "Everyone pins what they trust",
    "Ledger, programs, mints and the service's keys, before there is anything to pay or to check. From here on\nthe clients sign and believe only what fits this document.",
  );
  const answer = await requests.answer(...requestOf("GET /.well-known/evidence-trust.json", {}));
  if (answer.status !== 200) throw problemOf(answer);
  const trust = answer.text;
  const policy = policyIn(trust);
  const deployment = deploymentIn(policy);
  const mint = mintToPayIn(named, status, policy.supportedMints);
  narrator.result(
    `custody ${deployment.custodyProgram}, attestor ${deployment.attestorProgram}, ${policy.keys.length} key(s), ${mint.symbol} ${mint.address}`,
  );

  narrator.step(
    "Four wallets and some money",
    "An agent that buys, a merchant that sells, the merchant's attestor key, and a passer-by.\nTheir private keys never leave this process.",
  );
  const { rpc_address: rpcUrl } = status.network;
  const parties = await (funds ?? localFunds(tell))({ deployment, mint: mint.address, rpcUrl });
  const { agent, merchant, attestor, passerBy } = parties;
  narrator.result(
    `agent ${agent.address}, merchant ${merchant.address},\nattestor ${attestor.address}, passer-by ${passerBy.address}`,
  );
  return {
    parties,
    mint,
    client: connect(url, { trust, fetch: tell }),
    shop: connectMerchant(url, { trust, fetch: tell }),
    requests,
    narrator,
    signer: (who, what) =>
      narratingSigner(narrator, who === "passerBy" ? "passer-by" : who, what, parties[who]),
  };
};
