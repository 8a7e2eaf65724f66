import { afterAll, expect, test } from "bun:test";
import { localKey, LOCAL_USDC_MINT } from "../../adapters/local-ledger/genesis/local-keys.ts";
import { decodeBase64, encodeBase64 } from "../../core/domain/encoding/base64.ts";
import { parseHash32 } from "../../core/domain/hash32.ts";
import { parseTrustPolicy } from "../../core/protocol/evidence/trust-policy.ts";
import { voucherMessage } from "../../core/protocol/instructions/voucher.ts";
import { verifyEvidence } from "../../core/protocol/verification/verify-evidence.ts";
import { demoService } from "./support/demo-ledger.ts";
import { until } from "./support/running-service.ts";

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

const { service, end } = await demoService();

afterAll(end);

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

/** What the tests read of a session. */
type Session = {
  readonly state: string;
  readonly released_stroops: string;
  readonly left_stroops: string;
  readonly deliveries: number;
  readonly settled_by: string | null;
  readonly closes_at: string | null;
  readonly next_actions: ReadonlyArray<{ readonly action: string }>;
};

const read = async (escrow: string): Promise<Session> =>
  ((await (await fetch(`${service.url}/v1/escrows/${escrow}`)).json()) as { data: Session }).data;

const sessionKey = localKey("session");
const AMOUNT = 1_000_000n;

/** A session of the agent that lives so long, seconds. */
const openSession = async (nonce: string, ttl: number): Promise<string> => {
  const prepared = await ask<Prepared>("/v1/escrows/prepare?transaction=true", {
    agent_owner: agent.address,
    merchant: merchant.address,
    mint: LOCAL_USDC_MINT,
    amount_stroops: AMOUNT.toString(),
    ttl_seconds: ttl,
    session_key: sessionKey.address,
    task_intent: "a session of calls",
    nonce,
    payer: passerBy.address,
  });
  await land(prepared.transaction);
  return prepared.escrow_pda;
};

/** The body of a capture or, when final, of a release: signed by whichever attestor the escrow records. */
const paymentOf = async (escrow: string, total: bigint, deliveries: number, final: boolean) => {
  const claim = {
    proof_hash: "ef".repeat(32),
    amount_stroops: total.toString(),
    deliveries,
  };
  const attested = await ask<Prepared & { domain: string; terms: string; attestor: string }>(
    `/v1/escrows/${escrow}/attestation/prepare`,
    { ...claim, final },
  );
  const signer = [attestor, passerBy].find(({ address }) => address === attested.attestor);
  const orders = parseHash32("dd".repeat(32));
  const [domain, terms] = [parseHash32(attested.domain), parseHash32(attested.terms)];
  if (orders === undefined || domain === undefined || terms === undefined || signer === undefined)
    throw new Error("no claim");
  const named = { domain, terms, orders, total, count: deliveries, isClosing: final };
  return {
    ...claim,
    timestamp: attested.timestamp,
    attestation_signature: encodeBase64(signer.sign(bytesOf(attested.message_base64))),
    voucher: {
      orders,
      total_stroops: total.toString(),
      count: deliveries,
      closing: final,
      signature: encodeBase64(sessionKey.sign(voucherMessage(named))),
    },
    payer: passerBy.address,
  };
};

const call = async (escrow: string, name: string, body: object): Promise<void> => {
  const path = `/v1/escrows/${escrow}/${name}/prepare?transaction=true`;
  await land((await ask<Prepared>(path, body)).transaction);
};

const capture = async (escrow: string, total: bigint, deliveries: number): Promise<void> =>
  call(escrow, "capture", await paymentOf(escrow, total, deliveries, false));

type Packet = {
  readonly data: {
    readonly escrow: { readonly released_stroops: string };
    readonly settlement_decision: object;
  };
};

/** The packet, once it shows this, verified under the service's own trust document. */
const verifiedPacket = async (escrow: string, shown: string): Promise<Packet> => {
  const text = await until(
    "the packet shows the finalized account",
    async () => (await fetch(`${service.url}/v1/evidence/${escrow}?download=json`)).text(),
    (packet) => packet.includes(shown),
  );
  const document = await (await fetch(`${service.url}/.well-known/evidence-trust.json`)).text();
  const trust = parseTrustPolicy(document);
  if ("fault" in trust) throw new Error(trust.fault);
  expect(verifyEvidence(text, trust.value).verdict).toBe("verified");
  return JSON.parse(text) as Packet;
};

test("a session is captured twice and released, and its packets say what moved", async () => {
  const escrow = await openSession("released", 3600);
  expect(await read(escrow)).toMatchObject({
    left_stroops: "1000000",
    next_actions: [
      { action: "capture" },
      { action: "release_escrow" },
      { action: "cancel_escrow" },
      { action: "close_session" },
    ],
  });
  await capture(escrow, 100_000n, 2);
  await capture(escrow, 250_000n, 5);
  expect(await read(escrow)).toMatchObject({
    state: "Pending",
    released_stroops: "250000",
    left_stroops: "750000",
    deliveries: 5,
  });
  expect(
    (await verifiedPacket(escrow, '"released_stroops":"250000"')).data.settlement_decision,
  ).toMatchObject({
    status: "pending",
  });
  // Each part comes home by a call of its own where nothing follows in the same transaction.
  const bare = { payer: passerBy.address, bare: true };
  await call(escrow, "release", { ...(await paymentOf(escrow, 300_000n, 6, true)), ...bare });
  expect(await read(escrow)).toMatchObject({
    state: "PartiallyFulfilled",
    settled_by: "release",
    deliveries: 6,
    next_actions: [{ action: "claim_refund" }],
  });
  await call(escrow, "refund", bare);
  expect((await read(escrow)).next_actions).toMatchObject([{ action: "return_rent" }]);
  await call(escrow, "rent", { payer: passerBy.address });
  expect((await read(escrow)).next_actions).toEqual([]);
  expect(
    (await verifiedPacket(escrow, '"released_stroops":"300000"')).data.settlement_decision,
  ).toMatchObject({
    status: "released",
    reason: "merchant_partial_delivery_proof_verified",
  });
  const page = await fetch(`${service.url}/v1/evidence/${escrow}`, {
    headers: { accept: "text/html" },
  });
  const words = (await page.text()).replaceAll(/<[^>]*>/g, "").replaceAll(/\s+/g, " ");
  expect(words).toContain("Closed: 0.300000 USDC of 1.000000 USDC used for 6 deliveries.");
});

test("a merchant cancels a session with what it captured", async () => {
  const escrow = await openSession("cancelled", 3600);
  await capture(escrow, 400_000n, 1);
  await call(escrow, "cancel", {});
  expect(await read(escrow)).toMatchObject({
    state: "PartiallyFulfilled",
    settled_by: "cancel",
    released_stroops: "400000",
    refunded_stroops: "600000",
    next_actions: [],
  });
  await verifiedPacket(escrow, '"released_stroops":"400000"');
});

test("an agent closes its session, which is captured until it ends; a short one is refunded at its end", async () => {
  const escrow = await openSession("closed", 3600);
  await call(escrow, "close", { payer: passerBy.address });
  const { closes_at: closesAt, next_actions: next } = await read(escrow);
  expect(closesAt).toMatch(/Z$/);
  expect(next.map(({ action }) => action)).not.toContain("close_session");
  await capture(escrow, 1n, 1);

  const short = await openSession("short", 2);
  await until(
    "the session has ended",
    () => read(short),
    ({ next_actions: [first] }) => first?.action === "claim_refund",
  );
  await call(short, "refund", { payer: passerBy.address });
  expect(await read(short)).toMatchObject({
    state: "Refunded",
    settled_by: "refund",
    next_actions: [],
  });
  expect(
    (await verifiedPacket(short, '"settled_by":"refund"')).data.settlement_decision,
  ).toMatchObject({
    status: "refunded",
    reason: "ttl_expired_without_delivery_proof",
  });
});
