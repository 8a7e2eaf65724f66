import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { PROBLEM_CODES } from "../../adapters/http/problems/problem-catalogue.ts";
import {
  type PromisedAnswers,
  promisedAnswers,
} from "../conformance/http-answers/promised-answers.ts";
import { createLink, terms, walletService } from "../app/wallets/wallet-service.ts";
import { connectMerchant } from "../../client/merchant/connect-merchant.ts";
import type { MessageSigner } from "../../client/signing/sign-transaction.ts";
import { operatorPage } from "../../adapters/http/operator/operator-screen.ts";
import { pageText } from "../../adapters/http/pages/shell/shell.ts";
import { readOperatorFacts } from "../../core/use-cases/service/operator-facts.ts";
import { makeService } from "../adapters/http/support/service.ts";
import { localKey } from "../../adapters/local-ledger/genesis/local-keys.ts";
import { testBrowser } from "./chromium.ts";
import { cutsIn, DESKTOP, faultsByView, openPage, PHONE } from "./walk.ts";
import { synced } from "../app/support/running-service.ts";

/** A page and what it shows: texts, and elements by their ids with a text of each. */
type Shown = {
  readonly path: string;
  readonly texts: ReadonlyArray<string>;
  readonly parts?: ReadonlyArray<readonly [id: string, text: string]>;
  /** Of an error's page its status; 200 by default. */
  readonly status?: number;
};

let service: Awaited<ReturnType<typeof walletService>>;
let browser: Browser;
let operations: ReadonlyArray<PromisedAnswers>;
let records: ReadonlyArray<string>;

const ask = async (path: string) => (await fetch(service.url + path)).json();

type Listed = { readonly data: ReadonlyArray<Readonly<Record<string, string>>> };
const firstOf = async (path: string): Promise<Readonly<Record<string, string>>> =>
  ((await ask(path)) as Listed).data[0] ?? {};

/** Locks a payment that has not expired, beside the demo's, which all have. Gives its escrow. */
const payByLink = async (task = "looked at in a browser"): Promise<string> => {
  const link = createLink("solana", terms(task));
  const wallet = service.wallet("agent/planner");
  const { signedTransaction } = await wallet.sign(link, await service.latestBlockhash());
  await service.land(signedTransaction);
  await synced(service.url);
  const { escrow_pda: escrow = "" } = await firstOf("/v1/indexer?limit=1&state=Pending");
  return escrow;
};

beforeAll(async () => {
  service = await walletService();
  browser = await testBrowser();
  const contract = await (await fetch(`${service.url}/openapi.json`)).text();
  operations = promisedAnswers(contract);
  records = Object.keys(JSON.parse(contract).components.schemas);
  await payByLink();
}, 600_000);

afterAll(async () => {
  await browser?.close();
  await service?.stop();
});

const EXPIRED = "ttl_expired_refund_available";

/** One packet for each decision that an escrow of the ledger has. */
const packets = async (): Promise<ReadonlyArray<Shown>> => {
  const { data } = await ask("/v1/indexer?limit=100");
  const byReason = new Map<string, Shown>();
  for (const { escrow_pda: escrow } of data) {
    const path = `/v1/evidence/${escrow}`;
    const packet = await ask(path);
    const { reason } = packet.data.settlement_decision;
    const texts = [escrow, reason === EXPIRED ? "Run the refund" : "How to check it"];
    byReason.set(reason, { path, texts });
  }
  expect([...byReason.keys()]).toContain(EXPIRED);
  expect(byReason.size).toBe(5);
  return [...byReason.values()];
};

/** The pages of each operation that answers with HTML, by its operationId. */
const PAGES: Readonly<Record<string, () => ReadonlyArray<Shown> | Promise<ReadonlyArray<Shown>>>> =
  {
    readRoot: () => [
      {
        path: "/",
        // Whether the service works depends on how fast this machine answers now.
        texts: ["What became of the payment?", "Fulfilled"],
      },
    ],
    readDocs: () => [
      {
        path: "/docs",
        texts: ["Settlement Evidence API"],
        parts: [
          ...operations.map(({ operation }) => [operation, operation] as const),
          ...records.map((name) => [`schema-${name}`, name] as const),
        ],
      },
    ],
    // They differ in their words alone: the longest code and some others are looked at.
    readProblem: () =>
      PROBLEM_CODES.toSorted((a, b) => b.length - a.length)
        .filter((_, at) => at % 24 === 0)
        .map((code) => ({
          path: `/problems/${code}`,
          texts: [code, "What to do"],
        })),
    buildEvidence: packets,
  };

/** The pages for people that no operation names, by a name. */
const SCREENS: Readonly<Record<string, () => Promise<ReadonlyArray<Shown>>>> = {
  "lists of escrows": async () => [
    { path: "/escrows", texts: ["Escrows, newest first", "CSV", "JSONL"] },
    { path: "/escrows?state=Refunded", texts: ["Refunded", "These rows as"] },
    { path: "/escrows?merchant=nonsense", texts: ["Merchant's wallet", "More"] },
  ],
  "an escrow's page": async () =>
    Promise.all(
      ["Fulfilled", "PartiallyFulfilled", "Refunded", "Pending"].map(async (state) => {
        const { escrow_pda: pda = "" } = await firstOf(`/v1/indexer?limit=1&state=${state}`);
        return { path: `/escrows/${pda}`, texts: [pda, "What happened", "Created", "Decoded"] };
      }),
    ),
  merchants: async () => {
    const { merchant = "", name = "" } = await firstOf("/v1/registry/merchants?limit=1");
    return [
      { path: "/merchants", texts: ["Merchants, the earliest registered first", name] },
      {
        path: `/merchants/${merchant}`,
        texts: [name, "Attestor history", "Median time to delivery"],
      },
    ];
  },
  "a wallet": async () => {
    const { agent_owner: agent = "" } = await firstOf("/v1/indexer?limit=1");
    return [
      { path: `/wallets/${agent}`, texts: ["Can be refunded now", "Running sessions", "Paid"] },
    ];
  },
  "a transaction": async () => {
    const { signature = "", escrow_pda: escrow = "" } = await firstOf("/v1/indexer/events?limit=1");
    const texts = ["Transaction", "Do not sign it again", escrow];
    return [
      { path: `/transactions/${signature}`, texts },
      { path: `/search?q=${signature}`, texts },
    ];
  },
  "the log": async () => [
    { path: "/log", texts: ["Settlement log", "How it stands"] },
    { path: "/log?leaf=3", texts: ["Leaf 3", "From the leaf to the root"] },
  ],
  "the search box": async () => [
    { path: "/search", texts: ["Find"] },
    { path: "/search?q=nobody+has+this+name", texts: ["Nothing here has the name"] },
  ],
  verify: async () => [{ path: "/verify", texts: ["Verify", "A receipt that checks itself"] }],
  prepare: async () => [{ path: "/prepare", texts: ["Prepare a payment", "Agent's wallet"] }],
  errors: async () => [
    { path: "/nothing-here", texts: ["What to do", "route_not_found"], status: 404 },
    { path: "/escrows/nonsense", texts: ["What to do", "invalid_address"], status: 422 },
    { path: "/v1/escrows/nonsense", texts: ["What to do", "invalid_address"], status: 422 },
    {
      path: `/merchants/${localKey("nobody").address}`,
      texts: ["merchant_not_found"],
      status: 404,
    },
    { path: "/prepare?agent=nonsense", texts: ["Not prepared yet", "Agent's wallet"], status: 422 },
  ],
};

test("every operation that answers with a page has its pages here", () => {
  const withPage = operations.filter(({ successes }) => successes.includes("200 text/html"));
  expect(withPage.map(({ operation }) => operation).sort()).toEqual(Object.keys(PAGES).sort());
});

/** Statuses of links, each asked once; a machine under load may reset a connection that waits for long. */
const statuses = new Map<string, Promise<number>>();
const statusOf = (address: string): Promise<number> => {
  const look = () => fetch(address, { keepalive: false }).then(({ status }) => status);
  const status = statuses.get(address) ?? look().catch(look).catch(look);
  statuses.set(address, status);
  return status;
};

/** What the page in the browser lacks, and where its links lead nowhere. */
const lacksIn = async (page: Page, { texts, parts = [] }: Shown): Promise<Array<string>> => {
  const faults: Array<string> = [];
  for (const text of texts) {
    const shown = page.getByText(text).locator("visible=true").first();
    await shown.waitFor({ timeout: 15_000 }).catch(() => faults.push(`does not show: ${text}`));
  }
  const lacks = await page.evaluate((expected) => {
    const missing = expected.filter(([id, text]) => {
      const part = document.getElementById(id);
      return part?.checkVisibility() !== true || !part.innerText.includes(text);
    });
    const links = [...document.querySelectorAll("a")];
    const fragments = links.map((link) => link.getAttribute("href") ?? "");
    const headers = [...document.querySelectorAll("th")];
    return {
      missing: missing.map(([id]) => id),
      dead: fragments.filter(
        (href) => href.startsWith("#") && document.getElementById(href.slice(1)) === null,
      ),
      links: links.filter(({ origin }) => origin === location.origin).map(({ href }) => href),
      headers: headers.filter((header) => header.checkVisibility() && header.innerText === ""),
    };
  }, parts);
  faults.push(
    ...lacks.missing.map((id) => `does not show: ${id}`),
    ...lacks.dead.map((href) => `leads nowhere: ${href}`),
    ...lacks.headers.map(() => "an empty table header"),
  );
  // A page leads to parts of itself: that it is there is seen, whatever its status.
  const links = new Set(lacks.links.map((href) => href.replace(/#.*/, "")));
  links.delete(page.url().replace(/#.*/, ""));
  for (const link of links)
    if ((await statusOf(link)) !== 200) faults.push(`leads nowhere: ${link}`);
  return faults;
};

/** The most bytes that a first view may take, with headers, style, script and icon. */
const MOST_OF_A_VIEW = 60_000;

/** Opens a path in a browser that has nothing of it yet, and gives its status and the bytes that came over the wire. */
const firstView = async (page: Page, path: string) => {
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.setCacheDisabled", { cacheDisabled: true });
  let bytes = 0;
  session.on("Network.loadingFinished", ({ encodedDataLength }) => (bytes += encodedDataLength));
  const answer = await page.goto(service.url + path, { waitUntil: "load" });
  await page.evaluate(
    () => new Promise((resume) => requestIdleCallback(resume, { timeout: 2000 })),
  );
  await session.detach();
  return { status: answer?.status(), bytes };
};

test.concurrent.each([...Object.entries(PAGES), ...Object.entries(SCREENS)])(
  "the pages of %s are whole, and their first view is small",
  async (_, shownBy) => {
    const { page, faults, close } = await openPage(browser, service.url);
    const all: Record<string, ReadonlyArray<string>> = {};
    try {
      for (const shown of await shownBy()) {
        const { path, status: expected = 200 } = shown;
        const { status, bytes } = await firstView(page, path);
        if (status !== expected) faults.push(`answers ${status}, not ${expected}`);
        if (bytes === 0 || bytes >= MOST_OF_A_VIEW) faults.push(`takes ${bytes} bytes`);
        // The second time the browser has the page, and the service may answer 304.
        await page.goto(service.url + path);
        Object.assign(all, await faultsByView(page, path, () => lacksIn(page, shown)));
        // The browser notes an error's page as an error.
        const own = faults
          .splice(0)
          .filter((fault) => expected === 200 || !fault.includes(`${expected} (`));
        if (own.length > 0) all[path] = own;
      }
    } finally {
      await close();
    }
    expect(all).toEqual({});
  },
);

/** The operator's page of a service whose disk is almost full. */
const warnedOperator = async (): Promise<string> => {
  const { runtime } = await makeService();
  const facts = await runtime.runPromise(readOperatorFacts);
  await runtime.dispose();
  const disk = { freeBytes: 9, sizeBytes: 100 };
  return pageText(operatorPage({ ...facts, host: { stores: [], residentBytes: 1, disk } }), null);
};

test("the operator's page is whole, also with a warning and its cure", async () => {
  const { page, faults, close } = await openPage(browser, service.metricsUrl);
  try {
    await page.goto(service.metricsUrl);
    await page.getByRole("heading", { name: "Operator" }).waitFor();
    expect(await faultsByView(page, "operator")).toEqual({});
    await page.getByText("Nothing needs the operator now.").waitFor();
    const body = await warnedOperator();
    await page.route(`${service.metricsUrl}/`, (route) =>
      route.fulfill({ contentType: "text/html", body }),
    );
    await page.reload();
    await page.getByText("DiskAlmostFull").waitFor();
    expect(await faultsByView(page, "operator warned")).toEqual({});
    expect(faults).toEqual([]);
  } finally {
    await close();
  }
}, 600_000);

test("home, the reference and every screen are whole without JavaScript", async () => {
  const { page, faults, close } = await openPage(browser, service.url, {
    viewport: PHONE,
    javaScriptEnabled: false,
  });
  try {
    for (const shownBy of [PAGES["readRoot"], PAGES["readDocs"], ...Object.values(SCREENS)])
      for (const shown of (await shownBy?.()) ?? []) {
        const answer = await page.goto(service.url + shown.path);
        const lacks = [...(await lacksIn(page, shown)), ...(await cutsIn(page))];
        if (answer?.status() === 200) lacks.push(...faults);
        faults.splice(0);
        expect([shown.path, ...lacks]).toEqual([shown.path]);
      }
  } finally {
    await close();
  }
}, 600_000);

test("home shows a new payment, and an escrow's page its settlement, without a reload", async () => {
  const { page, faults, close } = await openPage(browser, service.url, { viewport: DESKTOP });
  try {
    await page.goto(`${service.url}/`);
    const newest = page.locator("#feed tbody tr").first();
    await newest.waitFor();
    const before = await newest.innerText();
    const escrow = await payByLink("seen while a page is open");
    await page.waitForFunction(
      (text) => document.querySelector<HTMLElement>("#feed tbody tr")?.innerText !== text,
      before,
      { timeout: 60_000 },
    );
    expect(await newest.innerText()).toContain("Pending");

    await page.goto(`${service.url}/escrows/${escrow}`);
    await page.locator("#state").getByText("Pending").waitFor();
    await page.evaluate(() => Object.assign(window, { isTheSamePage: true }));
    const trust = await (await fetch(`${service.url}/.well-known/evidence-trust.json`)).text();
    const { address, sign } = localKey("merchant/forecast");
    const wallet: MessageSigner = {
      publicKey: address,
      sign: (bytes) => Promise.resolve(sign(bytes)),
    };
    await connectMerchant(service.url, { trust }).cancel({ escrow, wallet });
    await page.locator("#state").getByText("Refunded").waitFor({ timeout: 60_000 });
    await page.locator("#timeline").getByText("Settled: the merchant cancelled").waitFor();
    expect(await page.locator("#next").innerText()).not.toContain("Give what is left back");
    expect(await page.evaluate(() => "isTheSamePage" in window)).toBe(true);
    expect(faults).toEqual([]);
  } finally {
    await close();
  }
}, 600_000);

test("an open page says when the service is gone, and when it is live again", async () => {
  const { page, close } = await openPage(browser, service.url, { viewport: DESKTOP });
  try {
    await page.goto(`${service.url}/`);
    const notice = page.getByRole("status");
    expect(await notice.innerText()).toBe("");
    const look = () => page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
    await page.route(`${service.url}/`, (route) => route.fulfill({ status: 503 }));
    await look();
    await notice.getByText("Not live any more").waitFor({ timeout: 60_000 });
    await page.unroute(`${service.url}/`);
    await look();
    await notice.getByText("Live again since").waitFor({ timeout: 60_000 });

    const startAgain = await service.interrupt();
    await notice.getByText("Not live any more").waitFor({ timeout: 60_000 });
    expect(await faultsByView(page, "not live")).toEqual({});
    // What was well then is not known to be so now.
    const colour = () =>
      page.locator("[data-live] .notice.good").evaluate((well) => getComputedStyle(well).color);
    const stale = await colour();
    await startAgain();
    await notice.getByText("Live again since").waitFor({ timeout: 60_000 });
    expect(await colour()).not.toBe(stale);
    expect(await notice.innerText()).not.toContain("Not live");
  } finally {
    await close();
  }
}, 600_000);
