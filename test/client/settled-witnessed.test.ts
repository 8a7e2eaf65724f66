import { afterAll, beforeAll, expect, test } from "bun:test";
import { localKey, type LocalKey } from "../../adapters/local-ledger/genesis/local-keys.ts";
import { localFaucet } from "../../app/demo/local-funds.ts";
import { connect, type SettlementClient, type TransactionSigner } from "../../client/index.ts";
import { connectMerchant } from "../../client/merchant.ts";
import { PROOF_TEMPLATES } from "../../core/domain/evidence/proof-template.ts";
import { until } from "../app/support/running-service.ts";
import { startWitnessingServices } from "../app/support/witnessing-services.ts";
import { failureOf } from "./support/failure-of.ts";
import {
  getBase64EncodedWireTransaction,
  getTransactionDecoder,
  signTransaction,
  createKeyPairFromPrivateKeyBytes,
} from "@solana/kit";
import type { Json } from "../../core/domain/encoding/canonical-json.ts";

type Prepared = { readonly transaction: { readonly base64: string } };
type Claim = {
  readonly proof_hash: string;
  readonly timestamp: string;
  readonly message_base64: string;
};

const post = async <A>(url: string, body: object): Promise<A> => {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url} answered ${answer.status} ${text}`);
  return (JSON.parse(text) as { readonly data: A }).data;
};

const relay = async (url: string, { transaction }: Prepared, payer: LocalKey): Promise<void> => {
  const unsigned = getTransactionDecoder().decode(Buffer.from(transaction.base64, "base64"));
  const key = await createKeyPairFromPrivateKeyBytes(payer.seed);
  const signed = await signTransaction([key], unsigned);
  await post(`${url}/v1/relay`, {
    signed_transaction: getBase64EncodedWireTransaction(signed),
    confirm: true,
  });
};

/** What the merchant's side does of an escrow: attest a payload, for all or a part of the amount, and release. */
const attestAndRelease = async (
  url: string,
  escrow: string,
  attestor: LocalKey,
  payer: LocalKey,
  payload: { readonly [name: string]: Json },
  amount?: string,
): Promise<void> => {
  const part = amount === undefined ? {} : { amount_stroops: amount };
  const path = `${url}/v1/escrows/${escrow}`;
  const claim = await post<Claim>(`${path}/attestation/prepare`, { payload, ...part });
  const signature = attestor.sign(Buffer.from(claim.message_base64, "base64"));
  const prepared = await post<Prepared>(`${path}/release/prepare?transaction=true`, {
    proof_hash: claim.proof_hash,
    timestamp: claim.timestamp,
    attestation_signature: Buffer.from(signature).toString("base64"),
    payer: payer.address,
    ...part,
  });
  await relay(url, prepared, payer);
};

/** Sends an expired escrow's money back to its agent. */
const refund = async (url: string, escrow: string, payer: LocalKey): Promise<void> => {
  const path = `${url}/v1/escrows/${escrow}/refund/prepare?transaction=true`;
  await relay(url, await post<Prepared>(path, { payer: payer.address }), payer);
};

/** What the merchant's wallet does with an escrow that it will not deliver for. */
const cancel = async (url: string, escrow: string, merchant: LocalKey): Promise<void> => {
  const path = `${url}/v1/escrows/${escrow}/cancel/prepare?transaction=true`;
  await relay(url, await post<Prepared>(path, {}), merchant);
};

const LONG_MS = 240_000;
const TASK = "GET https://api.example.com";
const [template] = PROOF_TEMPLATES;
const [agent, merchant] = [localKey("agent/planner"), localKey("merchant/forecast")];

let world: Awaited<ReturnType<typeof startWitnessingServices>>;
let url: string;
let client: SettlementClient;
let attestor: typeof merchant;

const signer: TransactionSigner = {
  address: agent.address,
  signTransactions: (transactions) =>
    Promise.resolve(
      transactions.map(({ messageBytes }) => ({ [agent.address]: agent.sign(messageBytes) })),
    ),
};

const buy = async (nonce: string, ttl = 3600): Promise<string> => {
  const payment = { merchant: merchant.address, amount: "1.50", task: TASK, nonce, ttl, signer };
  return (await client.pay(payment)).escrow;
};

const taskHashOf = async (escrow: string): Promise<string> => {
  const answer = await fetch(`${url}/v1/escrows/${escrow}`);
  return ((await answer.json()) as { data: { task_hash: string } }).data.task_hash;
};

beforeAll(async () => {
  world = await startWitnessingServices();
  for (const each of world.urls)
    await until(
      "a service is ready",
      () => fetch(`${each}/ready`).then(({ status }) => status),
      (status) => status === 200,
      120,
    );
  url = world.urls[0] ?? "";
  const faucet = localFaucet(world.ledgerUrl);
  for (const wallet of [agent, merchant]) await faucet.sol(wallet.address, 10);
  await faucet.usdc(agent.address, 25_000_000);
  attestor = localKey("attestor/forecast");
  const trust = (await (await fetch(`${url}/.well-known/evidence-trust.json`)).json()) as object;
  const wallet = {
    publicKey: merchant.address,
    sign: (message: Uint8Array) => Promise.resolve(merchant.sign(message)),
  };
  const registration = { wallet, attestor: attestor.address, name: "Forecast" };
  await connectMerchant(url, { trust }).register(registration);
  const [, two, three] = world.members;
  const log = `log ${world.members[0]?.logKey}\n${two?.witness}${three?.witness}group q any two three\nquorum q\n`;
  client = connect(url, { trust: { ...trust, log_on_ledger: log } });
}, LONG_MS);

afterAll(() => world?.stop(), LONG_MS);

const accountOf = ({ verdict }: Awaited<ReturnType<SettlementClient["settled"]>>) =>
  verdict.checks.find(({ name }) => name === "account_on_ledger")?.outcome;

test(
  "a released payment ends witnessed; what was delivered is accepted, and rejected by the buyer's own check",
  async () => {
    const escrow = await buy("released");
    const waiting = client.settled(escrow);
    const delivery = { ...template?.example, task_hash: await taskHashOf(escrow) };
    await attestAndRelease(url, escrow, attestor, merchant, delivery);
    const found = await waiting;
    expect(found).toMatchObject({ state: "Fulfilled", released: "1500000", refunded: "0" });
    expect(accountOf(found)).toBe("witnessed");
    const judged = async (options: object) =>
      (await client.settled(escrow, { delivery, template: template?.id ?? "", ...options }))
        .delivery;
    expect(await judged({ validate: () => null })).toEqual({ accepted: true, reasons: [] });
    expect(await judged({ validate: () => "the price is of yesterday" })).toEqual({
      accepted: false,
      reasons: ["the price is of yesterday"],
    });
    expect(await judged({ delivery: { ...delivery, status_code: 201 } })).toEqual({
      accepted: false,
      reasons: ["the attestor signed the hash of another payload"],
    });
  },
  LONG_MS,
);

test(
  "a part released, an expired payment refunded and a cancelled one end witnessed too",
  async () => {
    const [part, expired, cancelled] = [
      await buy("part"),
      await buy("expired", 1),
      await buy("cancelled"),
    ];
    const delivery = { ...template?.example, task_hash: await taskHashOf(part) };
    await attestAndRelease(url, part, attestor, merchant, delivery, "400000");
    await until(
      "the refund is taken",
      () =>
        refund(url, expired, merchant).then(
          () => true,
          () => false,
        ),
      (isTaken) => isTaken,
      60,
    );
    await cancel(url, cancelled, merchant);
    const ends = await Promise.all([part, expired, cancelled].map((each) => client.settled(each)));
    expect(ends).toMatchObject([
      { state: "PartiallyFulfilled", released: "400000", refunded: "1100000" },
      { state: "Refunded", released: "0", refunded: "1500000" },
      { state: "Refunded", released: "0", refunded: "1500000" },
    ]);
    expect(ends.map(accountOf)).toEqual(["witnessed", "witnessed", "witnessed"]);
  },
  LONG_MS,
);

test(
  "aborted while the payment is pending, it ends with the reason",
  async () => {
    const stop = new AbortController();
    const waiting = client.settled(await buy("aborted"), { signal: stop.signal });
    stop.abort(new Error("enough"));
    expect((await failureOf(waiting)).message).toBe("enough");
  },
  LONG_MS,
);
