import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { localKey } from "../../adapters/local-ledger/genesis/local-keys.ts";
import {
  createLink,
  FULFILLED,
  PENDING,
  terms,
  walletService,
} from "../app/wallets/wallet-service.ts";
import { testBrowser } from "./chromium.ts";
import { faultsByView, openPage } from "./walk.ts";
import { type Manner, signed, walletPage } from "./wallet-page.ts";
import { synced } from "../app/support/running-service.ts";

const AGENT = localKey("agent/planner");
const SELLER = localKey("merchant/forecast");
const MERCHANT = SELLER.address;
const OTHER_MERCHANT = localKey("merchant/prices").address;

let service: Awaited<ReturnType<typeof walletService>>;
let browser: Browser;

beforeAll(async () => {
  service = await walletService();
  browser = await testBrowser();
}, 600_000);

afterAll(async () => {
  await browser?.close();
  await service?.stop();
});

/** A page with a wallet, by default of the demo's agent. */
const pageWithWallet = (manner: Manner, holder = AGENT) =>
  walletPage(browser, service.url, holder, manner);

const LOCK = "LOCK 1.500000 USDC";

/** Fills in the form as a person does, with the wallet's address, and has it prepared. */
const prepare = async (page: Page, nonce: string, words = LOCK): Promise<void> => {
  await page.goto(`${service.url}/prepare?merchant=${MERCHANT}`);
  await page.getByRole("button", { name: "Take the address of" }).click();
  await page.getByText("stands in the form now").waitFor();
  await page.getByLabel("Amount").fill("1.50");
  await page.getByLabel("Task").fill("GET /quotes");
  await page.getByLabel("Order").fill(nonce);
  await page.getByRole("button", { name: "Prepare" }).click();
  await page.getByText(words).waitFor();
};

const sign = (page: Page) => page.getByRole("button", { name: "Sign with" }).click();

test("the prepared payment is whole in every view", async () => {
  const { page, faults, close } = await pageWithWallet("signs");
  await prepare(page, "looked at");
  expect(await faultsByView(page, "a prepared payment")).toEqual({});
  expect(faults).toEqual([]);
  await close();
}, 600_000);

test("a wallet of the browser pays what the page showed, and its outcome is linked", async () => {
  const { page, faults, asked, close } = await pageWithWallet("signs");
  await prepare(page, "browser-1");
  await sign(page);
  await page.getByText("Done: the service says").waitFor();
  expect(faults).toEqual([]);
  // Signed once more, it is refused by the service and found, and the wallet is not asked.
  const href = await page.getByRole("link", { name: "The transaction" }).getAttribute("href");
  const refusal = page.waitForResponse("**/v1/escrows/prepare?transaction=true");
  await sign(page);
  expect((await refusal).ok()).toBe(false);
  await page.getByText("Done: the service says").waitFor();
  expect(asked()).toBe(1);
  await page.goto(`${service.url}${href}`);
  await page.getByText("landed").first().waitFor();
  await close();
}, 600_000);

/** Runs a page's step and gives what the page told, once it refused. */
const refusalOf = async (page: Page): Promise<string> => {
  await sign(page);
  await page.getByText("Refused.").waitFor();
  return page.locator("#told").innerText();
};

test.each([
  ["another amount", { amount_stroops: "9000000" }],
  ["another merchant", { merchant: OTHER_MERCHANT }],
])(
  "a service that prepares %s is refused before the wallet is asked",
  async (what, changed) => {
    const { page, asked, close } = await pageWithWallet("signs");
    await prepare(page, what);
    await page.route("**/v1/escrows/prepare?transaction=true", (route) => {
      const body = route.request().postDataJSON() as object;
      return route.continue({ postData: JSON.stringify({ ...body, ...changed }) });
    });
    expect(await refusalOf(page)).toContain("prepared another transaction than was asked for");
    expect(asked()).toBe(0);
    await close();
  },
  600_000,
);

test("a page that shows other sentences than what is to be signed does not sign", async () => {
  const { page, asked, close } = await pageWithWallet("signs");
  await page.route("**/prepare?*agent=*", async (route) => {
    const answer = await route.fetch();
    const body = (await answer.text()).replace("LOCK 1.500000 USDC", "LOCK 0.100000 USDC");
    await route.fulfill({ response: answer, body });
  });
  await prepare(page, "other sentences", "LOCK 0.100000 USDC");
  expect(await refusalOf(page)).toContain("is not the one that you saw");
  expect(asked()).toBe(0);
  await close();
}, 600_000);

test("what a wallet changed is not sent", async () => {
  const { page, asked, close } = await pageWithWallet("changes");
  const sent: Array<string> = [];
  page.on("request", (request) => {
    if (request.url().includes("/v1/relay")) sent.push(request.url());
  });
  await prepare(page, "changed by the wallet");
  expect(await refusalOf(page)).toContain("signed another transaction than the one that you saw");
  expect([asked(), sent]).toEqual([1, []]);
  await close();
}, 600_000);

/** A payment of the demo's agent, made by a link. Gives its escrow. */
const paidByLink = async (task: string): Promise<string> => {
  const wallet = service.wallet("agent/planner");
  const link = createLink("solana", terms(task));
  const { signedTransaction } = await wallet.sign(link, await service.latestBlockhash());
  await service.land(signedTransaction);
  await synced(service.url);
  const listed = await fetch(`${service.url}/v1/indexer?state=Pending&limit=1`);
  return ((await listed.json()) as Listed).data[0]?.escrow_pda ?? "";
};
type Listed = { readonly data: ReadonlyArray<{ readonly escrow_pda: string }> };

/** A session that the demo's agent opened. Gives its escrow. */
const openSession = async (): Promise<string> => {
  const body = {
    ...Object.fromEntries(new URLSearchParams(terms("a session"))),
    ttl_seconds: 3600,
    agent_owner: AGENT.address,
    session_key: localKey("session").address,
  };
  const answer = await fetch(`${service.url}/v1/escrows/prepare?transaction=true`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const { data } = (await answer.json()) as {
    readonly data: {
      readonly escrow_pda: string;
      readonly transaction: { readonly base64: string };
    };
  };
  const bytes = signed(AGENT, Buffer.from(data.transaction.base64, "base64"));
  await service.land(Buffer.from(bytes).toString("base64"));
  return data.escrow_pda;
};

/** The escrow of the demo data that was refunded eight days ago: its account may be archived. */
const longRefunded = async (): Promise<string> => {
  const listed = await fetch(`${service.url}/v1/indexer?state=Refunded&limit=100`);
  return ((await listed.json()) as Listed).data.at(-1)?.escrow_pda ?? "";
};

/** A settled escrow that somebody sent lamports to, which belong to its rent payer. */
const withRent = async (): Promise<string> => {
  await service.rpc("requestAirdrop", [FULFILLED, 1_000_000]);
  return FULFILLED;
};

test.each([
  ["claim_refund", AGENT, () => Promise.resolve(PENDING), "Settled: the money went back"],
  ["archive_escrow", AGENT, longRefunded, "Archived"],
  ["cancel_escrow", SELLER, () => paidByLink("to be cancelled"), "Settled: the merchant cancelled"],
  ["close_session", AGENT, openSession, "Closed by the agent"],
  ["return_rent", AGENT, withRent, null],
] as const)(
  "a wallet signs the next step of an escrow's page: %s",
  async (action, holder, escrowOf, step) => {
    const { page, faults, asked, close } = await pageWithWallet("signs", holder);
    const address = `${service.url}/escrows/${await escrowOf()}`;
    const link = page.locator(`a[href*="action=${action}"]`);
    await page.goto(address);
    await link.click();
    await page.getByRole("button", { name: "Prepare" }).waitFor();
    if ((await page.getByLabel("Who sends it").inputValue()) === "") {
      await page.getByRole("button", { name: "Take the address of" }).click();
      await page.getByText("stands in the form now").waitFor();
      await page.getByRole("button", { name: "Prepare" }).click();
    }
    await sign(page);
    await page.getByText("Done: the service says").waitFor();
    expect(asked()).toBe(1);
    await page.getByRole("link", { name: "The escrow" }).click();
    await page.waitForURL(address);
    if (step !== null) await page.locator("#timeline").getByText(step).waitFor();
    expect(await link.count()).toBe(0);
    expect(faults).toEqual([]);
    await close();
  },
  600_000,
);

test.each([
  ["Pay, then release", "Released: the merchant has the money.", "Fulfilled"],
  ["Pay, then refund", "Refunded: the agent has its money again.", "Refunded"],
])(
  "the home page of a local ledger has the demo: %s",
  async (button, ended, state) => {
    const { page, faults, close } = await openPage(browser, service.url);
    await page.goto(service.url);
    await page.getByRole("button", { name: button }).click();
    await page.getByText(ended).waitFor({ timeout: 60_000 });
    expect(await page.locator("#demo").innerText()).not.toMatch(/\dT\d\d:/);
    await page.locator("#demo").getByRole("link", { name: "The escrow" }).click();
    await page.getByText(state).first().waitFor();
    expect(faults).toEqual([]);
    await close();
  },
  600_000,
);
