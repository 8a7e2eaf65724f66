import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { callOnce, closeWithSeller } from "../../../client/sessions/agent/call-session.ts";
import { sessionSeller, memorySessions, type SettlementError } from "../../../client/sessions.ts";
import { parseTrustPolicy } from "../../../core/protocol/evidence/trust-policy.ts";
import { verifyEvidence } from "../../../core/protocol/verification/verify-evidence.ts";
import { until } from "../../app/support/running-service.ts";
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
const selling = (price = "0.01", store = memorySessions()) => {
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
    const common = [
      ...["--service", fixture.service.url, "--rpc", fixture.rpc, "--once"],
      ...["--trust", await file("trust.json", fixture.trust)],
      ...["--key", await file("payer.json", keyText(payerKey.seed))],
    ];
    const run = (path: string) =>
      runHere((io) => main(["watchtower", path, ...common], io), { env: {}, stdin: "" });
    const altered = line.replace(/"head":"(.{80})./, '"head":"$1A');
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
