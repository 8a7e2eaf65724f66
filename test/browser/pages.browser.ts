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
const payByLink = async (): Promise<void> => {
  const link = createLink("solana", terms("looked at in a browser"));
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
        texts: ["What became of the payment?", "The service is online.", "Fulfilled"],
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
    readProblem: () =>
      PROBLEM_CODES.map((code) => ({ path: `/problems/${code}`, texts: [code, "What to do"] })),
    buildEvidence: packets,
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

test.concurrent.each(Object.entries(PAGES))("the pages of %s are whole", async (_, shownBy) => {
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
});

test("the reference is whole without JavaScript", async () => {
  const [reference] = (await PAGES["readDocs"]?.()) ?? [];
  if (reference === undefined) throw new Error("the reference has no page");
  const { page, faults, close } = await openPage({ viewport: PHONE, javaScriptEnabled: false });
  try {
    await page.goto(service.url + reference.path);
    expect([...faults, ...(await faultsWithin(page, reference))]).toEqual([]);
  } finally {
    await close();
  }
});
