import { type Address, address } from "../../core/domain/address.ts";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import type { OpenInstruction } from "../../core/domain/escrow/next-action.ts";
import { registerMerchantInstruction } from "../../core/protocol/instructions/attestor-instructions.ts";
import type { MerchantRecord } from "../../adapters/http/merchant/merchant-contract.ts";
import { DemoFailed, expectSame } from "./demo-failed.ts";
import { type LocalFaucet, localFaucet } from "./local-faucet.ts";
import type { Narrator } from "./narrator.ts";
import { type ServiceClient, serviceClient } from "./service-client.ts";
import { newWallet, type Wallet } from "./wallet.ts";

/** The parties of the demo, the service and the narrator. */
export type Stage = {
  readonly narrator: Narrator;
  readonly service: ServiceClient;
  readonly faucet: LocalFaucet;
  readonly deployment: Deployment;
  readonly mint: Address;
  readonly agent: Wallet;
  readonly merchant: Wallet;
  readonly attestor: Wallet;
  readonly passerBy: Wallet;
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
  if (data.status === "submitted") throw new DemoFailed(`${data.signature} was not confirmed`);
  narrator.result(`${data.status}, signature ${data.signature}`);
};

/** Reads the service's descriptor, makes wallets and funds them. @throws DemoFailed */
export const openStage = async (url: string, mint: Address, narrator: Narrator): Promise<Stage> => {
  const service = serviceClient(url, narrator);
  narrator.step(
    "Where are we?",
    "The service says which ledger and which programs it works with. This demo needs the local ledger,\nbecause it takes play money from that ledger's faucet.",
  );
  const { data: status } = await service.get<Status>("/v1/status");
  const { cluster } = status.network;
  if (cluster !== "localnet")
    throw new DemoFailed(`the service works on ${cluster}; the demo needs its local ledger`);
  expectSame("the service's status", status.status, "online");
  const descriptor = await service.get<Descriptor>("/.well-known/settlement-evidence.json");
  const { custody, attestor: attestorProgram } = descriptor.programs;
  narrator.result(`online on ${cluster}: custody ${custody}, attestor ${attestorProgram}`);

  narrator.step(
    "Four wallets and some play money",
    "An agent that buys, a merchant that sells, the merchant's attestor key, and a passer-by.\nTheir private keys are made here and never leave this process.",
  );
  const [agent, merchant, attestor, passerBy] = await Promise.all([
    newWallet(),
    newWallet(),
    newWallet(),
    newWallet(),
  ]);
  const faucet = localFaucet(descriptor.network, narrator);
  await Promise.all([
    faucet.sol(agent.address, 10),
    faucet.sol(merchant.address, 10),
    faucet.sol(passerBy.address, 1),
    faucet.usdc(agent.address, 25_000_000),
  ]);
  narrator.result(`agent ${agent.address} has 25 mock USDC`);

  const deployment = {
    custodyProgram: address(custody),
    attestorProgram: address(attestorProgram),
  };
  return {
    narrator,
    service,
    faucet,
    deployment,
    mint,
    agent,
    merchant,
    attestor,
    passerBy,
  };
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
