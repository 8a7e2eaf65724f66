import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { parseTrustPolicy } from "../../core/protocol/evidence/trust-policy.ts";
import { verifyEvidence } from "../../core/protocol/verification/verify-evidence.ts";
import type { EscrowRecord } from "../../adapters/http/escrow/escrow-contract.ts";
import type { SettlementEventRecord } from "../../adapters/http/index/event-contract.ts";
import type { RegistryEntryRecord } from "../../adapters/http/merchant/merchant-contract.ts";
import { type Contract, documentedAnswers } from "../adapters/http/support/documented-answers.ts";
import { completePacket } from "./support/complete-packet.ts";
import { demoService } from "./support/demo-ledger.ts";
import { until } from "./support/running-service.ts";

const { service, end } = await demoService();
let check: ReturnType<typeof documentedAnswers>;
let escrows: ReadonlyArray<EscrowRecord>;

const ask = async (path: string, init?: RequestInit): Promise<Response> => {
  const request = new Request(service.url + path, init);
  const response = await fetch(request.clone());
  await check(request, response);
  return response;
};
const read = async <A>(path: string, init?: RequestInit): Promise<A> => {
  const response = await ask(path, init);
  expect(response.ok, `${path} answered ${response.status}`).toBe(true);
  return (await response.json()) as A;
};
const post = (body: unknown): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});
const inState = (state: string): EscrowRecord => {
  const found = escrows.find((escrow) => escrow.state === state);
  if (found === undefined) throw new Error(`the demo data has no escrow that is ${state}`);
  return found;
};

beforeAll(async () => {
  check = documentedAnswers(
    (await (await fetch(`${service.url}/openapi.json`)).json()) as Contract,
  );
  await read("/v1/indexer/sync", { method: "POST" });
  escrows = (await read<{ data: ReadonlyArray<EscrowRecord> }>("/v1/indexer")).data;
});

/** The hash of the program's file. Its last byte is not zero, so none is cut off. */
const hashOfProgram = async (name: string): Promise<string> => {
  const file = Bun.file(new URL(`../../programs/${name}.so`, import.meta.url));
  return new Bun.CryptoHasher("sha256").update(await file.bytes()).digest("hex");
};

afterAll(end);

test("health, readiness, version, status and descriptor describe one deployment", async () => {
  expect(await read("/health")).toMatchObject({ status: "ok" });
  // What the ledger answers late, on a busy machine, is told as not ready and degraded.
  await until(
    "the service is ready",
    async () => (await ask("/ready")).status,
    (status) => status === 200,
  );
  await read("/v1");
  const { data } = await until(
    "the status is online",
    () => read<{ data: Record<string, unknown> }>("/v1/status"),
    (answer) => answer.data["status"] === "online",
  );
  expect(data).toMatchObject({
    status: "online",
    network: { cluster: "localnet", healthy: true },
    programs: {
      custody: { deployed: true, executable: true, sha256: await hashOfProgram("custody") },
      attestor: { deployed: true, executable: true, sha256: await hashOfProgram("attestor") },
    },
    indexer: { escrows: 4, lag_slots: expect.any(Number), last_error: null },
  });
  const onlineAt = (path: string) =>
    until(
      "the descriptor says online",
      () => read<Record<string, unknown>>(path),
      ({ status }) => status === "online",
    );
  const descriptor = await onlineAt("/.well-known/settlement-evidence.json");
  expect(await onlineAt("/")).toEqual(descriptor);
  expect(descriptor).toMatchObject({
    status: "online",
    network: new URL(service.rpcUrl).origin,
    mainnet_beta_limits: { max_escrow_usdc: "100.00", max_ttl_seconds: 86_400 },
  });
});

test("the index holds one demo escrow of each state, and each reads the same from the ledger", async () => {
  expect(escrows.map(({ state }) => state).toSorted()).toEqual([
    "Fulfilled",
    "PartiallyFulfilled",
    "Pending",
    "Refunded",
  ]);
  for (const escrow of escrows) {
    const live = await read<{ data: object }>(`/v1/escrows/${escrow.escrow_pda}`);
    // What a session has used stands on the ledger alone while it is open.
    const used =
      escrow.state === "Pending"
        ? { released_stroops: "0", left_stroops: escrow.amount_stroops, deliveries: 0 }
        : {};
    expect(live.data).toEqual({ ...escrow, ...used, archived: null });
    for (const filter of [
      `state=${escrow.state}`,
      `merchant=${escrow.merchant}&state=${escrow.state}`,
      `agent_owner=${escrow.agent_owner}&state=${escrow.state}&limit=1`,
    ])
      expect((await read<{ data: unknown }>(`/v1/indexer?${filter}`)).data).toEqual([escrow]);
  }
});

test("pages of one row add up to the page of all rows", async () => {
  for (const list of ["/v1/indexer", "/v1/indexer/events", "/v1/registry/merchants"]) {
    const whole = await read<{ data: ReadonlyArray<unknown> }>(list);
    const rows: Array<unknown> = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const query: string = cursor === "" ? "?limit=1" : `?limit=1&cursor=${cursor}`;
      const page: {
        readonly data: ReadonlyArray<unknown>;
        readonly page: { readonly next_cursor: string | null };
      } = await read(list + query);
      rows.push(...page.data);
      cursor = page.page.next_cursor;
    }
    expect(rows).toEqual([...whole.data]);
    expect(rows.length).toBeGreaterThan(1);
  }
});

test("the events show each escrow's creation and settlement, newest first", async () => {
  const { data } = await read<{ data: ReadonlyArray<SettlementEventRecord> }>("/v1/indexer/events");
  const kindsOf = (state: string) =>
    data
      .filter(({ escrow_pda }) => escrow_pda === inState(state).escrow_pda)
      .map(({ kind }) => kind);
  expect(kindsOf("Pending")).toEqual(["escrow_created"]);
  expect(kindsOf("Fulfilled")).toEqual(["escrow_released", "escrow_created"]);
  expect(kindsOf("PartiallyFulfilled")).toEqual(["escrow_partially_released", "escrow_created"]);
  expect(kindsOf("Refunded")).toEqual(["escrow_refunded", "escrow_created"]);
  expect(data.map(({ position }) => position)).toEqual(data.map((_, i) => data.length - i));
  // The ledger's history has the transaction of each event.
  for (const { signature, slot } of data) {
    expect(signature).not.toBeNull();
    expect(slot).toBeGreaterThan(0);
  }
});

test("merchants are read by wallet or account, and found by status, text and reputation", async () => {
  const { data: merchants } = await read<{ data: ReadonlyArray<RegistryEntryRecord> }>(
    "/v1/registry/merchants",
  );
  expect(merchants.length).toBeGreaterThan(0);
  for (const { stats, ...merchant } of merchants) {
    for (const name of [merchant.merchant, merchant.merchant_pda])
      expect((await read<{ data: unknown }>(`/v1/merchants/${name}`)).data).toEqual(merchant);
    const named = escrows.filter((escrow) => escrow.merchant === merchant.merchant);
    expect(stats.escrows).toBe(named.length);
    const found = await read<{ data: ReadonlyArray<RegistryEntryRecord> }>(
      `/v1/registry/merchants?q=${merchant.merchant}&status=${merchant.status}&min_reputation=${merchant.reputation}`,
    );
    expect(found.data.map((entry) => entry.merchant)).toEqual([merchant.merchant]);
  }
  expect(
    (await read<{ data: unknown }>("/v1/registry/merchants?min_reputation=1000000")).data,
  ).toEqual([]);
});

test("proof templates begin with the API's, and each can be read alone", async () => {
  type Templates = { data: ReadonlyArray<{ id: string; wedge: string }> };
  const { data: all } = await read<Templates>("/v1/proof-templates");
  expect(all[0]?.id).toBe("api-delivered-v1");
  const { data: api } = await read<Templates>("/v1/proof-templates?wedge=api-data");
  expect(api).toEqual(all.filter(({ wedge }) => wedge === "api-data"));
  for (const template of all)
    expect((await read<{ data: unknown }>(`/v1/proof-templates/${template.id}`)).data).toEqual(
      template,
    );
});

describe("evidence", () => {
  const decisions = {
    Pending: "pending",
    Fulfilled: "released",
    PartiallyFulfilled: "released",
    Refunded: "refunded",
  };
  for (const [state, status] of Object.entries(decisions))
    test(`of the ${state} escrow verifies under the trust document: ${status}`, async () => {
      const trust = parseTrustPolicy(await (await ask("/.well-known/evidence-trust.json")).text());
      if ("fault" in trust) throw new Error(trust.fault);
      const path = `/v1/evidence/${inState(state).escrow_pda}`;
      const text = await (await ask(path)).text();
      const { verdict, checks } = verifyEvidence(text, trust.value);
      expect(verdict, JSON.stringify(checks.filter(({ outcome }) => outcome === "failed"))).toBe(
        "verified",
      );
      expect(JSON.parse(text)).toMatchObject({ data: { settlement_decision: { status } } });
    });

  test("of a settled escrow is the same for each request, and is not sent twice", async () => {
    const { escrow_pda } = inState("Fulfilled");
    await completePacket(service.url, escrow_pda);
    const path = `/v1/evidence/${escrow_pda}`;
    const first = await ask(path);
    const etag = first.headers.get("etag") ?? "";
    const again = await ask(`${path}?download=json`);
    expect(await again.text()).toBe(await first.text());
    expect(again.headers.get("content-disposition")).toContain("attachment");
    expect((await ask(path, { headers: { "if-none-match": etag } })).status).toBe(304);
  });

  test("is signed by a key that jwks.json publishes", async () => {
    const { keys } = await read<{ keys: ReadonlyArray<{ kid: string }> }>("/.well-known/jwks.json");
    const { signature } = await read<{ signature: { key_id: string } }>(
      `/v1/evidence/${inState("Refunded").escrow_pda}`,
    );
    expect(keys.map(({ kid }) => kid)).toContain(signature.key_id);
  });
});

test("a new escrow is prepared for a registered merchant, and the preflight reads the ledger", async () => {
  const { agent_owner, merchant, mint, attestor } = inState("Pending");
  const body = {
    agent_owner,
    merchant,
    mint,
    amount_stroops: "1",
    ttl_seconds: 60,
    task_intent: "GET /quotes",
    nonce: "n-1",
  };
  type Prepared = {
    readonly inputs: { readonly attestor?: string };
    readonly instruction: { readonly data_base64: string };
    readonly preflight?: unknown;
  };
  const prepared = async (query: string, asked: object) =>
    (await read<{ data: Prepared }>(`/v1/escrows/prepare${query}`, post(asked))).data;
  const plain = await prepared("", body);
  expect(plain.inputs.attestor).toBeUndefined();
  const { preflight, ...rest } = await prepared("?preflight=true", body);
  expect(preflight).toMatchObject({
    ready: true,
    blockers: [],
    merchant_status: "Active",
    escrow_address_free: true,
  });
  // The merchant's present attestor, read from the ledger, is what asking for that key gives.
  expect(rest).toEqual(await prepared("", { ...body, attestor }));
  expect(rest.instruction.data_base64).not.toBe(plain.instruction.data_base64);
});

test("the relay states its policy and refuses bytes that are not a signed transaction", async () => {
  await read("/v1/relay");
  const answer = await ask("/v1/relay", post({ signed_transaction: "AAAA" }));
  expect(answer.status).toBe(422);
  expect(await answer.json()).toMatchObject({ code: "transaction_malformed" });
});
