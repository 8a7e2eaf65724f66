import { type Address, address } from "../../core/domain/address.ts";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import type { OpenInstruction } from "../../core/domain/escrow/next-action.ts";
import { registerMerchantInstruction } from "../../core/protocol/instructions/attestor-instructions.ts";
import type { MerchantRecord } from "../../adapters/http/merchant/merchant-contract.ts";
import { DemoFailed, eventually, expectSame } from "./demo-failed.ts";
import type { DemoFunds, Parties } from "./funds/demo-funds.ts";
import { localFunds } from "./funds/local-funds.ts";
import type { Narrator } from "./narrator.ts";
import { type ServiceClient, serviceClient } from "./service-client.ts";
import type { Wallet } from "./wallet.ts";

/** The parties of the demo, the service and the narrator. */
export type Stage = Parties & {
  readonly narrator: Narrator;
  readonly service: ServiceClient;
  readonly faucet: DemoFunds;
  readonly deployment: Deployment;
  readonly mint: Address;
};

type Status = {
  readonly data: {
    readonly status: string;
    readonly network: { readonly cluster: string };
  };
};

type Descriptor = {
  readonly network: string;
  readonly programs: { readonly custody: string; readonly attestor: string };
};

type Relayed = { readonly data: { readonly signature: string; readonly status: string } };
type Outcome = { readonly data: { readonly status: string; readonly error: unknown } };

/** A transaction lands or expires within about a minute and a half. */
const OUTCOME_SECONDS = 120;
/** A busy machine makes a status late, and a late part counts as degraded. */
const ONLINE_SECONDS = 30;

/** Signs instructions as `wallet`, relays the transaction and waits until it is confirmed. */
export const relayAs = async (
  stage: Stage,
  who: string,
  wallet: Wallet,
  what: string,
  instructions: ReadonlyArray<OpenInstruction>,
): Promise<void> => {
  const { narrator, service, faucet } = stage;
  const transaction = await wallet.transaction(instructions, await faucet.latestBlockhash());
  narrator.signs(who, what);
  const { data } = await service.post<Relayed>("/v1/relay", {
    signed_transaction: transaction,
    confirm: true,
  });
  const { signature } = data;
  if (data.status !== "submitted") return narrator.result(`${data.status}, signature ${signature}`);
  // A busy cluster takes longer than the relay waits.
  const outcome = await eventually(
    `the outcome of ${signature}`,
    OUTCOME_SECONDS,
    () => service.watch<Outcome>(`/v1/relay/${signature}`),
    (found) => found.data.status !== "pending",
  );
  if (outcome.data.status !== "landed" || outcome.data.error !== null)
    throw new DemoFailed(`${signature} is ${JSON.stringify(outcome.data)}`);
  narrator.result(`landed, signature ${signature}`);
};

/** Waits until the service is online. @throws DemoFailed when it is not within half a minute */
const expectOnline = async (service: ServiceClient, { data }: Status): Promise<void> => {
  if (data.status === "online") return;
  await eventually(
    "the service is online",
    ONLINE_SECONDS,
    () => service.watch<Status>("/v1/status"),
    (now) => now.data.status === "online",
  );
};

/**
 * Reads the service's descriptor and makes funded parties. Without `funds` the money comes from the local ledger's faucet. @throws
 * DemoFailed
 */
export const openStage = async (
  url: string,
  mint: Address,
  narrator: Narrator,
  funds?: DemoFunds,
): Promise<Stage> => {
  const service = serviceClient(url, narrator);
  narrator.step(
    "Where are we?",
    "The service says which ledger and which programs it works with. Without --payer-key this demo needs the local\nledger, because it takes play money from that ledger's faucet.",
  );
  const status = await service.get<Status>("/v1/status");
  const { cluster } = status.data.network;
  if (cluster !== "localnet" && funds === undefined)
    throw new DemoFailed(
      `the service works on ${cluster}, which has no faucet for tokens; add --payer-key FILE and --mint ADDRESS`,
    );
  await expectOnline(service, status);
  const descriptor = await service.get<Descriptor>("/.well-known/settlement-evidence.json");
  const { custody, attestor: attestorProgram } = descriptor.programs;
  narrator.result(`online on ${cluster}: custody ${custody}, attestor ${attestorProgram}`);
  const deployment = {
    custodyProgram: address(custody),
    attestorProgram: address(attestorProgram),
  };

  narrator.step(
    "Four wallets and some money",
    "An agent that buys, a merchant that sells, the merchant's attestor key, and a passer-by.\nTheir private keys never leave this process.",
  );
  const faucet = funds ?? localFunds(descriptor.network, narrator);
  const parties = await faucet.parties(deployment);
  return { narrator, service, faucet, deployment, mint, ...parties };
};

/** The merchant registers itself with its attestor's key. @throws DemoFailed */
export const registerMerchant = async (stage: Stage): Promise<void> => {
  const { narrator, service, deployment, merchant, attestor } = stage;
  narrator.step(
    "The merchant registers",
    "It names the attestor key whose signature will stand for a delivery.",
  );
  await relayAs(stage, "merchant", merchant, "register_merchant", [
    registerMerchantInstruction(deployment, {
      payer: merchant.address,
      merchant: merchant.address,
      attestor: attestor.address,
      name: "Demo Quotes",
    }),
  ]);
  const { data } = await service.get<{ data: MerchantRecord }>(`/v1/merchants/${merchant.address}`);
  expectSame("the merchant's status", data.status, "Active");
  expectSame("the merchant's attestor", data.attestor, attestor.address);
  narrator.result(`${data.name} is ${data.status}, account ${data.merchant_pda}`);
};
