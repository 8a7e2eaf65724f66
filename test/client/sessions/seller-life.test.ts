import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { callOnce } from "../../../client/sessions/agent/call-session.ts";
import { closeWithSeller } from "../../../client/sessions/agent/close-with-seller.ts";
import {
  type SellerOptions,
  sessionSeller,
  type SessionStore,
  type SettlementError,
} from "../../../client/sessions.ts";
import { memorySessions, SharedSessions } from "../../../client/sessions/store/memory-sessions.ts";
import { decodeBase64, encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { parseTrustPolicy } from "../../../core/protocol/evidence/trust-policy.ts";
import { verifyEvidence } from "../../../core/protocol/verification/verify-evidence.ts";
import { until } from "../../app/support/running-service.ts";
import type { Fetch } from "../../../client/service/fetch-directly.ts";
import { main } from "../../../client/command-line/main.ts";
import { keyText } from "../../../client/node/key-file.ts";
import { runHere } from "../../app/support/run-here.ts";
import { temporaryDirectory } from "../../app/support/running-service.ts";
import { attestorKey, merchantKey, payerKey, sellerFixture, signerOf } from "./seller-fixture.ts";

let fixture: Awaited<ReturnType<typeof sellerFixture>>;
beforeAll(async () => {
  fixture = await sellerFixture();
}, 120_000);
afterAll(() => fixture.stop());

/** A seller over HTTP, at 0.01 a call. */
const selling = (
  price = "0.01",
  store: SessionStore = memorySessions(new SharedSessions()),
  fetchWith: Fetch = fetch,
  more: Partial<SellerOptions> = {},
) => {
  const problems: Array<SettlementError> = [];
  const seller = sessionSeller({
    service: fixture.service.url,
    trust: fixture.trust,
    rpc: fixture.rpc,
    merchant: merchantKey.address,
    attestor: signerOf(attestorKey),
    payer: signerOf(payerKey),
    store,
    webSocket: null,
    fetch: fetchWith,
    ...more,
    onProblem: (problem) => problems.push(problem),
  });
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) =>
      seller.handle(request, price, async (asked, { count }) =>
        Response.json({ count, echo: await asked.text() }),
      ),
  });
  return {
    seller,
    store,
    problems,
    url: server.url.origin,
    stop: () => server.stop(true),
  };
};

test("a session is opened, called, captured, closed and released, and its packet verifies", async () => {
  const agent = await fixture.open("life");
  const { escrow } = agent.session;
  const { seller, store, problems, url, stop } = selling("0.10");
  try {
    const offered = await fetch(`${url}/quotes`);
    expect(offered.status).toBe(402);
    expect(offered.headers.get("payment-required")).not.toBeNull();
    for (let i = 1; i <= 3; i++) {
      const body = new TextEncoder().encode(`order ${i}`);
      const answer = await callOnce(agent, {
        method: "POST",
        url: `${url}/quotes`,
        body,
        limit: 100_000n,
      });
      expect(JSON.parse(new TextDecoder().decode(answer.body))).toEqual({
        count: i,
        echo: `order ${i}`,
      });
    }
    await seller.captureAll();
    expect(await fixture.read(escrow)).toMatchObject({
      state: "Pending",
      released_stroops: "300000",
      deliveries: 3,
    });
    await callOnce(agent, { url: `${url}/quotes`, limit: 100_000n });
    await closeWithSeller(agent, `${url}/quotes`);
    const live = await until(
      "the session is released",
      () => fixture.read(escrow),
      ({ state }) => state !== "Pending",
    );
    expect(live).toMatchObject({
      state: "PartiallyFulfilled",
      settled_by: "release",
      released_stroops: "400000",
      deliveries: 4,
    });
    // The agent's rest and the rents came home with it.
    expect(live.next_actions).toEqual([]);
    const packet = await until(
      "the packet shows the release",
      async () =>
        (await fetch(`${fixture.service.url}/v1/evidence/${escrow}?download=json`)).text(),
      (text) => text.includes('"released_stroops":"400000"'),
    );
    const trust = parseTrustPolicy(fixture.trust);
    if ("fault" in trust) throw new Error(trust.fault);
    expect(verifyEvidence(packet, trust.value).verdict).toBe("verified");
    await seller.close();
    await until(
      "the session is ended",
      () => store.unfinished(),
      (open) => open.length === 0,
    );
    expect(problems).toEqual([]);
  } finally {
    await stop();
    await seller.close();
  }
}, 120_000);

test("what is owed is captured in the background once it is enough, and by close()", async () => {
  const agent = await fixture.open("background", { amount: 3_000_000n });
  const { escrow } = agent.session;
  const { seller, problems, url, stop } = selling("0.50");
  try {
    for (let i = 1; i <= 2; i++) await callOnce(agent, { url: `${url}/a`, limit: 500_000n });
    await until(
      "1.00 is captured",
      () => fixture.read(escrow),
      ({ released_stroops: released }) => released === "1000000",
    );
    await callOnce(agent, { url: `${url}/a`, limit: 500_000n });
    await stop();
    await seller.close();
    expect(await fixture.read(escrow)).toMatchObject({ released_stroops: "1500000" });
    expect(problems).toEqual([]);
  } finally {
    await stop();
    await seller.close();
  }
}, 120_000);

test("a session that its agent closes on the ledger takes no further call, and is captured", async () => {
  const agent = await fixture.open("closed");
  const { escrow } = agent.session;
  const { seller, problems, url, stop } = selling();
  try {
    await callOnce(agent, { url: `${url}/a`, limit: 10_000n });
    await fixture.land(`/v1/escrows/${escrow}/close/prepare`, { payer: payerKey.address });
    await until(
      "the close is finalized",
      async () => (await fixture.lookAt([escrow])).seen.get(escrow)?.escrow.closesAt ?? null,
      (closesAt) => closesAt !== null,
    );
    await seller.captureAll();
    const refused = await callOnce(agent, { url: `${url}/b`, limit: 10_000n }).catch(
      (cause: SettlementError) => cause.code,
    );
    expect(refused).toBe("session_ended");
    expect(await fixture.read(escrow)).toMatchObject({ released_stroops: "10000" });
    expect(problems).toEqual([]);
  } finally {
    await stop();
    await seller.close();
  }
}, 120_000);

test("a watchtower captures with the seller's heads and a fee payer's key alone, and refuses altered ones", async () => {
  const agent = await fixture.open("watchtower");
  const { escrow } = agent.session;
  const { seller, url, stop } = selling("0.10");
  const folder = await temporaryDirectory();
  try {
    for (let i = 1; i <= 3; i++) await callOnce(agent, { url: `${url}/a`, limit: 100_000n });
    const heads = await seller.heads();
    const line = heads.split("\n").find((each) => each.includes(escrow)) ?? "";
    const file = async (name: string, text: string): Promise<string> => {
      await writeFile(join(folder.path, name), text, { mode: 0o600 });
      return join(folder.path, name);
    };
    const trust = await file("trust.json", fixture.trust);
    const payer = await file("payer.json", keyText(payerKey.seed));
    const service = ["--service", fixture.service.url, "--trust", trust, "--rpc", fixture.rpc];
    const common = [...service, "--key", payer, "--once"];
    const run = (path: string) =>
      runHere((io) => main(["watchtower", path, ...common], io), { env: {}, stdin: "" });
    const altered = line.replace(/(?<="head":".{80})./, (character) =>
      character === "A" ? "B" : "A",
    );
    const refused = await run(await file("altered", altered));
    expect(refused.stderr).toContain(`The line of ${escrow} has a signature that is not`);
    expect((await fixture.read(escrow)).released_stroops).toBe("0");
    expect(await run(await file("heads", `${line}\n`))).toMatchObject({ code: 0, stderr: "" });
    expect(await fixture.read(escrow)).toMatchObject({
      released_stroops: "300000",
      deliveries: 3,
      state: "Pending",
    });
    expect(await run(await file("none", "no heads"))).toMatchObject({ code: 64 });
  } finally {
    await folder.remove();
    await stop();
    await seller.close();
  }
}, 120_000);

test("a capture that the service prepares otherwise is not signed, and a service that is right again gets it", async () => {
  const agent = await fixture.open("otherwise");
  const { escrow } = agent.session;
  let isHostile = true;
  const hostile: Fetch = async (url, init) => {
    const response = await fetch(url, init);
    if (!isHostile || !url.includes("/capture/prepare")) return response;
    type Prepared = { readonly data: { readonly transaction: { readonly base64: string } } };
    const { data } = (await response.json()) as Prepared;
    const bytes = Uint8Array.from(decodeBase64(data.transaction.base64) ?? []);
    // Another account than the one that is paid, or another argument: the bytes of the last instruction.
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    const transaction = { ...data.transaction, base64: encodeBase64(bytes) };
    return Response.json({ data: { ...data, transaction } });
  };
  const { seller, problems, url, stop } = selling(
    "0.10",
    memorySessions(new SharedSessions()),
    hostile,
  );
  try {
    await callOnce(agent, { url: `${url}/a`, limit: 100_000n });
    const failed = await seller.captureAll().catch((cause: SettlementError) => cause.code);
    expect([failed, problems.map(({ code }) => code)]).toEqual([
      "prepared_otherwise",
      ["prepared_otherwise"],
    ]);
    expect((await fixture.read(escrow)).released_stroops).toBe("0");
    isHostile = false;
    await seller.captureAll();
    expect((await fixture.read(escrow)).released_stroops).toBe("100000");
  } finally {
    await stop();
    await seller.close();
  }
}, 120_000);

test("behind a proxy the order is of what the agent asked for; a long body and a broken store are refused", async () => {
  const made = await fixture.open("proxied");
  let isBroken = false;
  const whole = memorySessions(new SharedSessions());
  const store: SessionStore = {
    ...whole,
    find: (escrow) => (isBroken ? Promise.reject(new Error("disk full")) : whole.find(escrow)),
  };
  const more = { origin: "https://api.example.com", mostBodyBytes: 8 };
  const { seller, url, stop } = selling("0.01", store, fetch, more);
  const agent = {
    ...made,
    // What a proxy does: the agent's address is not the seller's own.
    fetch: (asked: string, init: RequestInit) =>
      fetch(asked.replace("https://api.example.com", url), init),
    clock: { nowMs: Date.now, pause: () => Promise.resolve() },
  };
  const codeOf = (body: string): Promise<string> =>
    callOnce(agent, {
      method: "POST",
      url: "https://api.example.com/v1/quotes?symbol=SOL",
      body: new TextEncoder().encode(body),
      limit: 10_000n,
    }).then(
      ({ count }) => `call ${count}`,
      ({ code }: SettlementError) => code,
    );
  try {
    expect(await codeOf("12345678")).toBe("call 1");
    expect(await codeOf("123456789")).toBe("body_too_long");
    const offer = (await (await fetch(`${url}/v1/quotes`)).json()) as {
      readonly resource: { readonly url: string };
    };
    expect(offer.resource.url).toBe("https://api.example.com/v1/quotes");
    expect((await fetch(`${url}/v1/quotes`, { method: "HEAD" })).status).toBe(402);
    expect((await fetch(`${url}/v1/quotes`, { method: "OPTIONS" })).status).toBe(204);
    isBroken = true;
    expect(await codeOf("1")).toBe("call_unanswered");
    isBroken = false;
    expect(await codeOf("1")).toBe("call 2");
  } finally {
    await stop();
    await seller.close();
  }
}, 120_000);
