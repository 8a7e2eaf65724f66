import { afterAll, beforeAll, expect, test } from "bun:test";
import type { LocalKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { connect } from "../../../client/connect.ts";
import { keySigner } from "../../../client/node/key-file.ts";
import { memorySessionJournal } from "../../../client/sessions/agent/memory-journal.ts";
import { memorySessions, sessionSeller } from "../../../client/sessions.ts";
import type { Fetch } from "../../../client/service/fetch-directly.ts";
import {
  agentKey,
  attestorKey,
  merchantKey,
  payerKey,
  sellerFixture,
  signerOf,
} from "./seller-fixture.ts";

let fixture: Awaited<ReturnType<typeof sellerFixture>>;
beforeAll(async () => {
  fixture = await sellerFixture();
}, 120_000);
afterAll(() => fixture.stop());

const signer = keySigner(agentKey.seed);
const URL = "https://api.example.com/quotes";

/** A seller without a port at `URL`, whose fees this key pays. */
const selling = (payer: LocalKey, fetchWith: Fetch = fetch) => {
  const seller = sessionSeller({
    service: fixture.service.url,
    trust: fixture.trust,
    rpc: fixture.rpc,
    merchant: merchantKey.address,
    attestor: signerOf(attestorKey),
    payer: signerOf(payer),
    store: memorySessions(),
    webSocket: null,
    fetch: fetchWith,
  });
  const reach: Fetch = (url, init) =>
    seller.handle(new Request(url, init), "0.01", (_, { count }) => Response.json({ count }));
  return { seller, reach };
};

const sessionAt = (reach: Fetch, budget: string) =>
  connect(fixture.service.url, { trust: fixture.trust, rpc: fixture.rpc }).session({
    merchant: merchantKey.address,
    budget,
    ttl: 3600,
    signer,
    journal: memorySessionJournal(),
    fetch: reach,
  });

test("a session of which nothing was used is cancelled by a seller with the merchant's wallet", async () => {
  const { seller, reach } = selling(merchantKey);
  const session = await sessionAt(reach, "1.00");
  const ended = await session.close({ url: URL });
  expect(ended).toMatchObject({ outcome: "settled", refusal: null, used: "0", rest: "1000000" });
  // The agent paid for the opening only, and everything is home.
  expect(ended.lamports.fees).toBe("5000");
  expect(await fixture.read(session.escrow)).toMatchObject({
    state: "Refunded",
    settled_by: "cancel",
    next_actions: [],
  });
  await seller.close();
}, 60_000);

test("without that wallet the answer says so, and the agent closes it on the ledger at once", async () => {
  const { seller, reach } = selling(payerKey);
  const session = await sessionAt(reach, "1.00");
  const ended = await session.close({ url: URL });
  expect(ended).toMatchObject({ outcome: "closing", used: "0" });
  // Not that no settlement was seen: none is waited for that cannot come.
  expect(ended.refusal).toContain("Nothing was used");
  await seller.close();
}, 120_000);

test("the rent that a settlement alone leaves behind comes home with close()", async () => {
  const bare: Fetch = (url, init) => {
    if (!url.includes("/release/prepare") || typeof init.body !== "string") return fetch(url, init);
    const asked = JSON.parse(init.body) as object;
    return fetch(url, { ...init, body: JSON.stringify({ ...asked, bare: true }) });
  };
  const { seller, reach } = selling(payerKey, bare);
  const session = await sessionAt(reach, "0.02");
  for (let i = 0; i < 2; i++) await session.call(URL, { limit: "0.01" });
  const ended = await session.close();
  expect(ended).toMatchObject({ outcome: "settled", refusal: null, used: "20000", rest: "0" });
  expect(ended.lamports.fees).toBe("10000");
  expect(await fixture.read(session.escrow)).toMatchObject({
    state: "Fulfilled",
    next_actions: [],
  });
  await seller.close();
}, 60_000);

test("a new store offers nothing until the seller's node has told it the ledger's time", async () => {
  let isDown = true;
  const { seller, reach } = selling(payerKey, (url, init) =>
    isDown && url.startsWith(fixture.rpc)
      ? Promise.resolve(new Response("", { status: 403 }))
      : fetch(url, init),
  );
  const refused = await reach(URL, {});
  expect([refused.status, await refused.json()]).toMatchObject([
    503,
    { code: "ledger_out_of_reach" },
  ]);
  isDown = false;
  expect((await reach(URL, {})).status).toBe(402);
  const session = await sessionAt(reach, "0.02");
  expect((await session.call(URL, { limit: "0.01" })).count).toBe(1);
  await session.close();
  await seller.close();
}, 60_000);
