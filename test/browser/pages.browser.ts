import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import axe, { type AxeResults } from "axe-core";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { PROBLEM_CODES } from "../../adapters/http/problems/problem-catalogue.ts";
import {
  type PromisedAnswers,
  promisedAnswers,
} from "../conformance/http-answers/promised-answers.ts";
import { createLink, terms, walletService } from "../app/wallets/wallet-service.ts";
import { browserProgram, launchBrowser } from "./chromium.ts";

if (browserProgram === null) {
  process.stderr.write(
    "chromium is not installed, so nothing was tested. Debian and Ubuntu: apt-get install chromium\n",
  );
  process.exit(1);
}

/** A folder for a picture of each page, empty for none. */
const PICTURES = process.env["PAGE_PICTURES"] ?? "";

const DESKTOP = { width: 1280, height: 900 };
const PHONE = { width: 375, height: 812 };
const VIEWS = [
  ["desktop, light", DESKTOP, "light"],
  ["desktop, dark", DESKTOP, "dark"],
  ["phone, light", PHONE, "light"],
  ["phone, dark", PHONE, "dark"],
] as const;

/** A page and what it shows: texts, and elements by their ids with a text of each. */
type Shown = {
  readonly path: string;
  readonly texts: ReadonlyArray<string>;
  readonly parts?: ReadonlyArray<readonly [id: string, text: string]>;
};

let service: Awaited<ReturnType<typeof walletService>>;
let browser: Browser;
let operations: ReadonlyArray<PromisedAnswers>;
let records: ReadonlyArray<string>;

const ask = async (path: string) => (await fetch(service.url + path)).json();

/** Locks a payment that has not expired, beside the demo's, which all have. */
const payByLink = async (task = "looked at in a browser"): Promise<void> => {
  const link = createLink("solana", terms(task));
  const wallet = service.wallet("agent/planner");
  const { signedTransaction } = await wallet.sign(link, await service.latestBlockhash());
  await service.land(signedTransaction);
  await fetch(`${service.url}/v1/indexer/sync`, { method: "POST" });
};

beforeAll(async () => {
  service = await walletService();
  browser = await launchBrowser(browserProgram ?? "");
  const contract = await (await fetch(`${service.url}/openapi.json`)).text();
  operations = promisedAnswers(contract);
  records = Object.keys(JSON.parse(contract).components.schemas);
  await payByLink();
}, 120_000);

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
        texts: ["What became of the payment?", "The service works", "Fulfilled"],
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
    // They differ in their words alone: every eighth is looked at.
    readProblem: () =>
      PROBLEM_CODES.filter((_, at) => at % 8 === 0).map((code) => ({
        path: `/problems/${code}`,
        texts: [code, "What to do"],
      })),
    buildEvidence: packets,
  };

type Listed = { readonly data: ReadonlyArray<Readonly<Record<string, string>>> };
const firstOf = async (path: string): Promise<Readonly<Record<string, string>>> =>
  ((await ask(path)) as Listed).data[0] ?? {};

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
    const { signature = "" } = await firstOf("/v1/indexer/events?limit=1");
    return [{ path: `/transactions/${signature}`, texts: ["Transaction", "Do not sign it again"] }];
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
};

test("every operation that answers with a page has its pages here", () => {
  const withPage = operations.filter(({ successes }) => successes.includes("200 text/html"));
  expect(withPage.map(({ operation }) => operation).sort()).toEqual(Object.keys(PAGES).sort());
});

/** Statuses of links, each asked once. */
const statuses = new Map<string, Promise<number>>();
const statusOf = (address: string): Promise<number> => {
  const status = statuses.get(address) ?? fetch(address).then((response) => response.status);
  statuses.set(address, status);
  return status;
};

/** What the page in the browser lacks or has too much of. */
const faultsWithin = async (page: Page, { texts, parts = [] }: Shown): Promise<Array<string>> => {
  const faults: Array<string> = [];
  for (const text of texts) {
    const shown = page.getByText(text).locator("visible=true").first();
    await shown.waitFor({ timeout: 15_000 }).catch(() => faults.push(`does not show: ${text}`));
  }
  const found = await page.evaluate((expected) => {
    const { scrollWidth, clientWidth } = document.documentElement;
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
      sideways: scrollWidth > clientWidth ? [`${scrollWidth} px in ${clientWidth} px`] : [],
      headers: headers.filter((header) => header.checkVisibility() && header.innerText === ""),
    };
  }, parts);
  faults.push(
    ...found.missing.map((id) => `does not show: ${id}`),
    ...found.dead.map((href) => `leads nowhere: ${href}`),
    ...found.sideways.map((width) => `scrolls sideways: ${width}`),
    ...found.headers.map(() => "an empty table header"),
  );
  for (const link of new Set(found.links.map((href) => href.replace(/#.*/, ""))))
    if ((await statusOf(link)) !== 200) faults.push(`leads nowhere: ${link}`);
  return faults;
};

/** What axe finds in the page. Scripts that the page may not run are run by the browser's own protocol. */
const violationsIn = async (page: Page): Promise<ReadonlyArray<string>> => {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<AxeResults>(
    'axe.run(document, { resultTypes: ["violations"] })',
  );
  return violations.map(
    ({ id, help, nodes }) => `axe: ${id}: ${help}: ${nodes.length} times, first ${nodes[0]?.html}`,
  );
};

/** A page of the browser, and what it does that no page may do. */
const openPage = async (options: BrowserContextOptions = {}) => {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const faults: Array<string> = [];
  page.on("console", (line) => {
    if (line.type() === "error" || line.type() === "warning")
      faults.push(`console: ${line.text()}`);
  });
  page.on("pageerror", ({ message }) => faults.push(`script: ${message}`));
  page.on("request", (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol !== "data:" && origin !== service.url) faults.push(`asks ${request.url()}`);
  });
  page.on("response", (response) => {
    if (response.status() >= 400) faults.push(`${response.status()} ${response.url()}`);
  });
  return { page, faults, close: () => context.close() };
};

test.concurrent.each([...Object.entries(PAGES), ...Object.entries(SCREENS)])(
  "the pages of %s are whole",
  async (_, shownBy) => {
    const { page, faults, close } = await openPage();
    const all: Record<string, ReadonlyArray<string>> = {};
    try {
      for (const shown of await shownBy()) {
        // The second time the browser has the page, and the service may answer 304.
        for (const _ of ["first", "second"]) await page.goto(service.url + shown.path);
        for (const [view, size, colorScheme] of VIEWS) {
          await page.setViewportSize(size);
          await page.emulateMedia({ colorScheme });
          faults.push(...(await faultsWithin(page, shown)), ...(await violationsIn(page)));
          if (PICTURES !== "") {
            const name = `${shown.path} ${view}.png`.replace(/[^\w.]+/g, "-");
            await page.screenshot({ path: join(PICTURES, name), fullPage: true });
          }
          if (faults.length > 0) all[`${shown.path} (${view})`] = faults.splice(0);
        }
      }
    } finally {
      await close();
    }
    expect(all).toEqual({});
  },
);

test("home, the reference and every screen are whole without JavaScript, and small beside the verifier", async () => {
  const { page, faults, close } = await openPage({ viewport: PHONE, javaScriptEnabled: false });
  const bytesOf = async (path: string): Promise<number> => {
    const headers = { accept: "text/html", "accept-encoding": "br" };
    return (await (await fetch(service.url + path, { headers, decompress: false })).bytes()).length;
  };
  const sizes: Record<string, number> = {};
  try {
    for (const shownBy of [PAGES["readRoot"], PAGES["readDocs"], ...Object.values(SCREENS)])
      for (const shown of (await shownBy?.()) ?? []) {
        await page.goto(service.url + shown.path);
        const missing = await faultsWithin(page, shown);
        expect([shown.path, ...faults.splice(0), ...missing]).toEqual([shown.path]);
        const html = await (
          await fetch(service.url + shown.path, { headers: { accept: "text/html" } })
        ).text();
        const loaded = Array.from(
          html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g),
          ([, at = ""]) => at,
        );
        const first = loaded.filter((at) => !at.includes("verify.js"));
        const parts = await Promise.all([shown.path, ...first].map(bytesOf));
        sizes[shown.path] = parts.reduce((sum, each) => sum + each, 0);
      }
  } finally {
    await close();
  }
  const large = Object.entries(sizes).filter(
    ([path, bytes]) => bytes >= (path === "/docs" ? 80_000 : 60_000),
  );
  expect(large).toEqual([]);
}, 300_000);

test("home shows a new payment without a reload", async () => {
  const { page, close } = await openPage({ viewport: DESKTOP });
  try {
    await page.goto(`${service.url}/`);
    await page.locator("#feed tbody tr").first().waitFor();
    const before = await page.locator("#feed tbody tr").first().innerText();
    await payByLink("seen while a page is open");
    await page.waitForFunction(
      (text) => document.querySelector<HTMLElement>("#feed tbody tr")?.innerText !== text,
      before,
      { timeout: 60_000 },
    );
    expect(await page.locator("#feed tbody tr").first().innerText()).toContain("Pending");
  } finally {
    await close();
  }
}, 120_000);

test("the keyboard reaches the skip link first, and a narrow view in forced colours is whole", async () => {
  const { page, faults, close } = await openPage({
    viewport: { width: 640, height: 450 },
    forcedColors: "active",
    reducedMotion: "reduce",
  });
  try {
    for (const path of ["/", "/escrows", "/verify"]) {
      await page.goto(service.url + path);
      await page.keyboard.press("Tab");
      expect(await page.evaluate(() => document.activeElement?.textContent)).toBe(
        "Skip to the content",
      );
      await page.keyboard.press("Enter");
      expect(new URL(page.url()).hash).toBe("#main");
      const { isWide } = await page.evaluate(() => ({
        isWide: document.documentElement.scrollWidth > document.documentElement.clientWidth,
      }));
      expect([path, isWide, ...faults.splice(0), ...(await violationsIn(page))]).toEqual([
        path,
        false,
      ]);
    }
  } finally {
    await close();
  }
}, 120_000);
