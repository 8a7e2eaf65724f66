import { expect, test } from "bun:test";
import { escrowTimeline } from "../../../../adapters/http/pages/escrow/escrow-timeline.ts";
import { consoleSheet } from "../../../../adapters/http/pages/shell/browser-script.ts";
import { html } from "../../../../adapters/http/pages/shell/html.ts";
import { type Page, pageText } from "../../../../adapters/http/pages/shell/shell.ts";
import { transactionScreen } from "../../../../adapters/http/pages/transaction/transaction-screen.ts";
import { relayOutcomeExample } from "../../../../adapters/http/relay/relay-contract.ts";
import { escrow, merchant } from "../support/parties.ts";
import { standing } from "../support/standing-service.ts";

/** What a browser accepts where a person follows a link. */
const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const SCRIPT = `<script>alert(1)</script>`;

const { service } = await standing();
const [paid, partly, back, open] = [
  escrow("released", "Fulfilled"),
  escrow("partial", "PartiallyFulfilled"),
  escrow("refunded", "Refunded"),
  escrow("pending"),
];
service.seed({
  escrows: [paid, partly, back, open],
  merchants: [{ ...merchant(), name: SCRIPT }],
});

const get = (path: string, headers: Record<string, string> = { accept: BROWSER }) =>
  service.app.handle(new Request(`http://localhost${path}`, { headers }));

/** A page's text without its tags, spaces as one. */
const textOf = async (path: string): Promise<string> => {
  const page = await (await get(path)).text();
  return page.replaceAll(/<[^>]*>/g, " ").replaceAll(/\s+/g, " ");
};

test("an escrow's page says in words and in its timeline what became of the payment", async () => {
  for (const [row, word, sentence] of [
    [paid, "Fulfilled", "The merchant was paid the whole"],
    [partly, "Partly fulfilled", "the rest is the agent's"],
    [back, "Refunded", "went back to the agent"],
    [open, "Pending", "wait for the merchant's attestor to sign"],
  ] as const) {
    const text = (await textOf(`/escrows/${row.address}`)).replaceAll("&#39;", "'");
    expect(text).toContain(row.address);
    expect(text).toContain(word);
    expect(text).toContain(sentence);
    expect(text).toContain("Created");
    expect(text).toContain(row === open ? "Not settled yet" : "Settled:");
    expect(text).toContain("USDC");
  }
});

test("a transaction's page follows its escrow's news until its outcome is final, and tells addresses, not nodes", async () => {
  const shown = async (changed: object) => {
    const data = { ...relayOutcomeExample(), ...changed };
    const view = { params: {}, origin: "", read: () => Promise.resolve({ data }) };
    return (await transactionScreen.show(
      view as unknown as Parameters<typeof transactionScreen.show>[0],
    )) as Page;
  };
  const final = await shown({});
  expect(final.follows).toBeUndefined();
  expect((await shown({ status: "expired", commitment: null })).follows).toBeUndefined();
  expect(pageText(final, null)).toContain("Asked at 2 addresses, the nodes say so.");
  expect(pageText(await shown({ nodes: 1 }), null)).toContain("One node says so.");
  const pending = await shown({ status: "pending", commitment: null, nodes: null });
  const [escrow] = relayOutcomeExample().escrows;
  const news = "/v1/indexer/events/stream?commitment=confirmed";
  expect(pending.follows).toBe(`${news}&escrow=${escrow}`);
  expect(pageText(pending, null)).toContain('<div id="outcome" data-live>');
  expect((await shown({ commitment: "confirmed", escrows: [] })).follows).toBe(news);
});

test("a pending escrow counts down on the ledger's clock and says who can do what", async () => {
  const page = await (await get(`/escrows/${open.address}`)).text();
  expect(Number(/data-left="(\d+)"/.exec(page)?.[1])).toBeGreaterThan(0);
  expect(page).toContain("Pay the merchant and settle");
  expect(page).toContain("Give what is left back to the agent");
  const text = (await textOf(`/escrows/${open.address}`)).replaceAll("&#39;", "'");
  expect(text).toMatch(/UTC ?\. Still needed: the attestor's signature/);
  expect(page).toContain(`/v1/escrows/${open.address}/release/prepare`);
  expect(page).toContain(`data-follows="/v1/indexer/events/stream?escrow=${open.address}`);
});

test.each([
  ["/escrows/nonsense", 422, "invalid_address"],
  [`/escrows/${merchant().wallet}`, 404, "escrow_not_found"],
  ["/transactions/nonsense", 422, "validation_failed"],
  ["/nowhere", 404, "route_not_found"],
  ["/v1/escrows/nonsense", 422, "invalid_address"],
])("what %s answers is a page with a cure for a browser", async (path, status, code) => {
  const answer = await get(path);
  expect([path, answer.status, answer.headers.get("content-type")]).toEqual([
    path,
    status,
    "text/html; charset=utf-8",
  ]);
  const page = await answer.text();
  expect(page).toContain(`/problems/${code}`);
  expect(page).toContain("What to do");
  expect(answer.headers.get("content-security-policy")).not.toContain("unsafe");
});

test("a program gets problems as documents, whatever it accepts", async () => {
  for (const accept of ["*/*", "application/json", "text/html"]) {
    const answer = await get("/v1/escrows/nonsense", { accept });
    if (accept === "text/html") expect(answer.status).toBe(406);
    expect(answer.headers.get("content-type")).toBe("application/problem+json");
  }
});

test.each(["/escrows?merchant=nonsense", "/log?leaf=nonsense", "/escrows/nonsense"])(
  "%s names the value that is wrong and what it must be",
  async (path) => {
    expect(await textOf(path)).toMatch(/[/?](merchant|index|pda) must (be|match)/);
  },
);

test("a part that a page fetches again has no look of another page's part", async () => {
  const style = consoleSheet();
  const pages = ["/", "/escrows", `/escrows/${open.address}`];
  for (const path of [...pages, `/wallets/${open.agentOwner}`]) {
    const page = await (await get(path)).text();
    const ids = [...page.matchAll(/id="([^"]+)" data-live/g)].map(([, id = ""]) => id);
    expect(ids).not.toBeEmpty();
    for (const id of ids) expect(style).not.toMatch(new RegExp(`#${id}\\b`));
  }
});

test.each(["/escrows", "/merchants"])("%s writes its sync's time as every other", async (path) => {
  await service.app.handle(new Request("http://localhost/v1/indexer/sync", { method: "POST" }));
  expect(await textOf(path)).toMatch(/up to the sync at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/);
});

test("an ended escrow has one state in its list, on its page and where its refund is prepared", async () => {
  const ended = escrow("ended", "Pending", 90_000n);
  service.seed({ escrows: [paid, partly, back, open, ended] });
  await service.app.handle(new Request("http://localhost/v1/indexer/sync", { method: "POST" }));
  for (const path of [
    "/escrows?refundable=true",
    `/escrows/${ended.address}`,
    `/prepare?escrow=${ended.address}&action=claim_refund`,
  ])
    expect(await (await get(path)).text()).toMatch(
      /class="pill bad"><span aria-hidden="true">✗<\/span> Ended, refundable/,
    );
});

test("a session's timeline counts deliveries in words, and once it is settled no payment is one so far", async () => {
  const live = await (
    await get(`/v1/escrows/${paid.address}`, { accept: "application/json" })
  ).json();
  const session = { ...live.data, session_key: paid.agentOwner, deliveries: 1 };
  const told = (changes: object): string =>
    escrowTimeline({ ...session, ...changes }, [], "2026-03-01T12:00:00Z", (raw) => html`${raw}`)
      .text.replaceAll(/<[^>]*>/g, " ")
      .replaceAll(/\s+/g, " ");
  const running = { state: "Pending", settled_by: null, settled_at: null };
  expect(told(running)).toContain("paid to the merchant so far, for 1 delivery");
  expect(told({ ...running, deliveries: 2 })).toContain("for 2 deliveries");
  expect(told({})).toMatch(/Attested last .* paid to the merchant in all, for 1 delivery/);
  expect(told({})).not.toMatch(/Captured|so far/);
  expect(told({ ...running, refundable: true })).toContain("now 2026-03-01 12:00:00 UTC");
});

test("a merchant's page tells that its name is nobody's word", async () => {
  expect(await textOf(`/merchants/${merchant().wallet}`)).toContain(
    "Anybody can register any name.",
  );
});

test("the home page shows health, events and days, and follows the stream", async () => {
  await service.app.handle(new Request("http://localhost/v1/indexer/sync", { method: "POST" }));
  const page = await (await get("/")).text();
  expect(page).toContain("What became of the payment?");
  expect(page).toContain('data-follows="/v1/indexer/events/stream"');
  expect(page).toContain(`href="/escrows/${paid.address}"`);
  expect(page).toContain("<svg");
});

test("no page holds what is not its own as markup", async () => {
  for (const path of ["/", `/escrows/${paid.address}`, `/nowhere?${SCRIPT}`])
    expect(await (await get(path)).text()).not.toContain(SCRIPT);
});

test("no page stands in the contract, and a page's path has no other method", async () => {
  const document = await (await get("/openapi.json", {})).text();
  expect(document).not.toContain('"/escrows/{pda}"');
  const posted = await service.app.handle(
    new Request(`http://localhost/escrows/${paid.address}`, { method: "POST" }),
  );
  expect(posted.status).toBe(405);
});
