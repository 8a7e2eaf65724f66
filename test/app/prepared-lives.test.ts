import { afterAll, beforeAll, expect, test } from "bun:test";
import { localKey, LOCAL_USDC_MINT } from "../../adapters/local-ledger/genesis/local-keys.ts";
import { decodeBase64, encodeBase64 } from "../../core/domain/encoding/base64.ts";
import { withDemoLedger } from "./support/demo-ledger.ts";
import {
  quietEnvironment,
  runService,
  temporaryDirectory,
  until,
} from "./support/running-service.ts";

type Transaction = { readonly base64: string; readonly signers: ReadonlyArray<string> };
type Prepared = {
  readonly escrow_pda: string;
  readonly transaction: Transaction;
  readonly message_base64: string;
  readonly proof_hash: string;
  readonly timestamp: string;
  readonly preflight?: { readonly ready: boolean };
};

const agent = localKey("agent/planner");
const passerBy = localKey("agent/trader");
const merchant = localKey("merchant/forecast");
const attestor = localKey("attestor/forecast");
const KEYS = [agent, passerBy, merchant];

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let service: Awaited<ReturnType<typeof runService>>;

beforeAll(async () => {
  directory = await temporaryDirectory();
  service = await runService(quietEnvironment(withDemoLedger(directory.path)));
  await until(
    "the service is ready",
    () => fetch(`${service.url}/ready`).then(({ status }) => status),
    (status) => status === 200,
  );
});
afterAll(async () => {
  await service.stop();
  await directory.remove();
});

const ask = async <A>(path: string, body: object): Promise<A> => {
  const response = await fetch(service.url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const answer = (await response.json()) as { readonly data: A };
  expect([path, response.status < 300, answer]).toEqual([path, true, answer]);
  return answer.data;
};

const bytesOf = (base64: string): Uint8Array => decodeBase64(base64) ?? new Uint8Array();

/** Signs a prepared transaction with whoever it needs and relays it. */
const land = async ({ base64, signers }: Transaction): Promise<void> => {
  const bytes = bytesOf(base64);
  const message = bytes.slice(1 + 64 * signers.length);
  for (const [i, signer] of signers.entries()) {
    const key = KEYS.find(({ address }) => address === signer);
    if (key === undefined) throw new Error(`nobody signs for ${signer}`);
    bytes.set(key.sign(message), 1 + 64 * i);
  }
  const body = { signed_transaction: encodeBase64(bytes), confirm: true };
  expect(await ask<object>("/v1/relay", body)).toMatchObject({ status: "finalized" });
};

const open = async (nonce: string): Promise<string> => {
  const prepared = await ask<Prepared>("/v1/escrows/prepare?transaction=true&preflight=true", {
    agent_owner: agent.address,
    merchant: merchant.address,
    mint: LOCAL_USDC_MINT,
    amount_stroops: "1000000",
    ttl_seconds: 3600,
    task_intent: "GET https://api.example.com",
    nonce,
    payer: passerBy.address,
  });
  expect(prepared.preflight?.ready).toBe(true);
  await land(prepared.transaction);
  return prepared.escrow_pda;
};

const stateOf = async (escrow: string): Promise<string> => {
  const response = await fetch(`${service.url}/v1/escrows/${escrow}`);
  return ((await response.json()) as { data: { state: string } }).data.state;
};

test("agent, merchant and passer-by complete a delivery with prepared answers alone", async () => {
  const escrow = await open("delivered");
  const path = `/v1/escrows/${escrow}`;
  const claim = { proof_hash: "ab".repeat(32), amount_stroops: "400000" };
  const attested = await ask<Prepared>(`${path}/attestation/prepare`, claim);
  const release = await ask<Prepared>(`${path}/release/prepare?transaction=true`, {
    ...claim,
    timestamp: attested.timestamp,
    attestation_signature: encodeBase64(attestor.sign(bytesOf(attested.message_base64))),
    payer: passerBy.address,
  });
  await land(release.transaction);
  expect(await stateOf(escrow)).toBe("PartiallyFulfilled");
});

test("a merchant that cannot deliver returns the money before expiry", async () => {
  const escrow = await open("cancelled");
  const cancel = await ask<Prepared>(`/v1/escrows/${escrow}/cancel/prepare?transaction=true`, {});
  await land(cancel.transaction);
  expect(await stateOf(escrow)).toBe("Refunded");
});

test("a wallet becomes a merchant, and changes its attestor", async () => {
  const { address } = passerBy;
  const body = { merchant: address, attestor: attestor.address, name: "Passer-by" };
  const registered = await ask<Prepared>("/v1/merchants/prepare?transaction=true", body);
  await land(registered.transaction);
  const path = `/v1/merchants/${address}`;
  const rotation = { attestor: agent.address, revoke: true };
  const rotated = await ask<Prepared>(`${path}/attestor/prepare?transaction=true`, rotation);
  await land(rotated.transaction);
  expect(await (await fetch(service.url + path)).json()).toMatchObject({
    data: { attestor: agent.address, previous_attestor: attestor.address },
  });
});

test("an escrow whose attestor was revoked can be cancelled, and is not offered a release", async () => {
  const escrow = await open("revoked");
  const path = `/v1/escrows/${escrow}`;
  const claim = { proof_hash: "cd".repeat(32) };
  const attested = await ask<Prepared>(`${path}/attestation/prepare`, claim);
  const rotated = await ask<Prepared>(
    `/v1/merchants/${merchant.address}/attestor/prepare?transaction=true`,
    { attestor: passerBy.address, revoke: true },
  );
  await land(rotated.transaction);
  const refused = await fetch(`${service.url}${path}/release/prepare`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      ...claim,
      timestamp: attested.timestamp,
      attestation_signature: encodeBase64(attestor.sign(bytesOf(attested.message_base64))),
    }),
  });
  expect([refused.status, await refused.json()]).toMatchObject([
    409,
    { rule: "attestor_revoked", state: "Pending", next_actions: [{ action: "cancel_escrow" }] },
  ]);
});
