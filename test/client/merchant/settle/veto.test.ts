import { afterAll, beforeAll, expect, test } from "bun:test";
import { localKey, LOCAL_USDC_MINT } from "../../../../adapters/local-ledger/genesis/local-keys.ts";
import { signedTransaction } from "../../../../adapters/local-ledger/genesis/signed-transaction.ts";
import { connect } from "../../../../client/connect.ts";
import { connectMerchant, memoryAttestations } from "../../../../client/merchant.ts";
import { keySigner } from "../../../../client/node/key-file.ts";
import type { Fetch } from "../../../../client/service/fetch-directly.ts";
import type { Address } from "../../../../core/domain/address.ts";
import { decodeBase64, encodeBase64 } from "../../../../core/domain/encoding/base64.ts";
import { associatedTokenAddress } from "../../../../core/protocol/addresses/addresses.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { readInstruction } from "../../../../core/protocol/instructions/program-call.ts";
import {
  decodeWireTransaction,
  openedInstructions,
} from "../../../../core/protocol/transaction/wire-transaction.ts";
import { latestBlockhash, until } from "../../../app/support/running-service.ts";
import { setAuthority } from "../../../programs/fixture/token-instructions.ts";
import { delivered, merchantFixture } from "../merchant-fixture.ts";

const agent = localKey("agent/planner");
const friend = localKey("veto/friend");
const wallet = localKey("merchant/forecast");
const attestor = localKey("attestor/forecast");
const purse = associatedTokenAddress(agent.address, LOCAL_USDC_MINT);

let merchant: Awaited<ReturnType<typeof merchantFixture>>;
beforeAll(async () => {
  merchant = await merchantFixture();
});
afterAll(() => merchant.stop());

const rpc = async (method: string, params: ReadonlyArray<unknown>) => {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const headers = { "content-type": "application/json" };
  const answer = await fetch(merchant.service.rpcUrl, { method: "POST", headers, body });
  return ((await answer.json()) as { readonly result?: unknown }).result;
};

/** Whose the agent's token account is, by the ledger. */
const ownerOfPurse = async (): Promise<string | undefined> => {
  const shown = (await rpc("getAccountInfo", [purse, { encoding: "jsonParsed" }])) as {
    readonly value: { readonly data: { readonly parsed: { readonly info: { owner: string } } } };
  };
  return shown.value.data.parsed.info.owner;
};

/** The agent's token account changes hands; the agent pays. */
const handOver = async (from: typeof agent, to: Address): Promise<void> => {
  const bytes = signedTransaction({
    payer: agent,
    signers: from === agent ? [] : [from],
    instructions: [setAuthority(purse, "owner", to, from.address)],
    blockhash: await latestBlockhash(merchant.service.url),
  });
  await rpc("sendTransaction", [encodeBase64(bytes), { encoding: "base64" }]);
  await until("the account has changed hands", ownerOfPurse, (owner) => owner === to);
};

const signerOf = (key: typeof agent) => {
  const { address, signMessage } = keySigner(key.seed);
  return { publicKey: address, sign: signMessage };
};

test("an agent that gives its token account away before a release in part lands keeps the merchant from nothing, and fetches its rest itself", async () => {
  const { escrow } = await merchant.pay(wallet);
  const sent: Array<ReadonlyArray<string | undefined>> = [];
  const listening: Fetch = async (url, init) => {
    if (new URL(url).pathname === "/v1/relay") {
      const { signed_transaction } = JSON.parse(init.body as string) as {
        readonly signed_transaction: string;
      };
      const decoded = decodeWireTransaction(decodeBase64(signed_transaction) ?? new Uint8Array());
      if ("malformed" in decoded) throw new Error(decoded.malformed);
      const calls = openedInstructions(decoded.value).map(
        (each) => readInstruction(each, LOCAL_DEPLOYMENT)?.name,
      );
      sent.push(calls.filter((name) => name !== undefined));
      if (sent.length === 1) await handOver(agent, friend.address);
    }
    return fetch(url, init);
  };
  const { trust } = merchant;
  const { url } = merchant.service;
  const shop = connectMerchant(url, { trust, fetch: listening });
  const attestation = await shop.attest({
    escrow,
    payload: delivered(await merchant.taskHashOf(escrow)),
    template: "api-delivered-v1",
    amount: "0.40",
    attestor: signerOf(attestor),
    journal: memoryAttestations(),
  });
  const released = await shop.release({ attestation, payer: signerOf(wallet) });
  expect(released).toMatchObject({ released: "400000", signature: expect.any(String) });
  expect(sent).toEqual([["release_escrow", "claim_refund", "return_rent"], ["release_escrow"]]);
  expect(await merchant.stateOf(escrow)).toBe("PartiallyFulfilled");

  await handOver(friend, agent.address);
  const signer = keySigner(localKey("agent/trader").seed);
  const refund = () => connect(url, { trust }).refund(escrow, { signer });
  expect(await refund()).toMatchObject({ refunded: "600000", signature: expect.any(String) });
  expect(await refund()).toMatchObject({ refunded: "600000", signature: null });
  const live = await fetch(`${url}/v1/escrows/${escrow}`);
  expect(await live.json()).toMatchObject({ data: { next_actions: [] } });
}, 60_000);
