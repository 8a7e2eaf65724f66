import { afterAll, beforeAll, expect, test } from "bun:test";
import axe, { type AxeResults } from "axe-core";
import type { Browser, Page } from "playwright-core";
import { localKey } from "../../adapters/local-ledger/genesis/local-keys.ts";
import { PENDING, walletService } from "../app/wallets/wallet-service.ts";
import { browserProgram, launchBrowser } from "./chromium.ts";

if (browserProgram === null) {
  process.stderr.write(
    "chromium is not installed, so nothing was tested. Debian and Ubuntu: apt-get install chromium\n",
  );
  process.exit(1);
}

const AGENT = localKey("agent/planner");
const MERCHANT = localKey("merchant/forecast").address;
const OTHER_MERCHANT = localKey("merchant/prices").address;

let service: Awaited<ReturnType<typeof walletService>>;
let browser: Browser;

beforeAll(async () => {
  service = await walletService();
  browser = await launchBrowser(browserProgram ?? "");
}, 120_000);

afterAll(async () => {
  await browser?.close();
  await service?.stop();
});

/** What a fake wallet does with what it is asked to sign. */
type Manner = "signs" | "changes";

/**
 * A page with a wallet that registers as the Wallet Standard says. It signs with the demo agent's key, which stays in
 * the test; `asked` counts what it was asked to sign.
 */
const pageWithWallet = async (manner: Manner) => {
  const context = await browser.newContext();
  const page = await context.newPage();
  const faults: Array<string> = [];
  page.on("pageerror", ({ message }) => faults.push(message));
  page.on("console", (line) => {
    // A payment first asks whether its escrow is there, and the browser notes that answer, 404, as an error.
    const isAwaited = new URL(line.location().url, service.url).pathname.startsWith("/v1/escrows/");
    if (!isAwaited && ["error", "warning"].includes(line.type())) faults.push(line.text());
  });
  let asked = 0;
  await page.exposeFunction("signInTest", (bytes: ReadonlyArray<number>) => {
    asked += 1;
    const transaction = Uint8Array.from(bytes);
    const message = transaction.slice(65);
    transaction.set(AGENT.sign(message), 1);
    if (manner === "changes") transaction[transaction.length - 1] = 7;
    return Array.from(transaction);
  });
  await page.addInitScript(
    ({ address }) => {
      const account = { address, publicKey: new Uint8Array(32), chains: [], features: [] };
      type Signs = (bytes: ReadonlyArray<number>) => Promise<ReadonlyArray<number>>;
      const { signInTest } = window as unknown as { readonly signInTest: Signs };
      const wallet = {
        version: "1.0.0",
        name: "<b>Test</b> wallet",
        icon: "data:image/png;base64,",
        chains: ["solana:localnet"],
        accounts: [account],
        features: {
          "standard:connect": {
            version: "1.0.0",
            connect: () => Promise.resolve({ accounts: [account] }),
          },
          "solana:signTransaction": {
            version: "1.0.0",
            supportedTransactionVersions: ["legacy", 0],
            signTransaction: async ({ transaction }: { readonly transaction: Uint8Array }) => [
              { signedTransaction: Uint8Array.from(await signInTest(Array.from(transaction))) },
            ],
          },
        },
      };
      const register = (api: { readonly register: (wallet: unknown) => void }) =>
        api.register(wallet);
      window.dispatchEvent(
        new CustomEvent("wallet-standard:register-wallet", { detail: register }),
      );
      window.addEventListener("wallet-standard:app-ready", (event) =>
        register((event as CustomEvent).detail),
      );
    },
    { address: AGENT.address },
  );
  return { page, faults, asked: () => asked, close: () => context.close() };
};

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

test.each([
  [1280, "light"],
  [1280, "dark"],
  [375, "light"],
  [375, "dark"],
] as const)(
  "the prepared payment is accessible at %d px, %s",
  async (width, colorScheme) => {
    const { page, faults, close } = await pageWithWallet("signs");
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme });
    await prepare(page, "looked at");
    const isSideways = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    expect(isSideways).toBe(false);
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate<AxeResults>("axe.run(document)");
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
    expect(faults).toEqual([]);
    await close();
  },
  120_000,
);

test("a wallet of the browser pays what the page showed, and its outcome is linked", async () => {
  const { page, faults, asked, close } = await pageWithWallet("signs");
  await prepare(page, "browser-1");
  await sign(page);
  await page.getByText("Done: the service says").waitFor();
  expect(asked()).toBe(1);
  await page.getByRole("link", { name: "The transaction" }).click();
  await page.getByText("landed").first().waitFor();
  await page.goBack();
  expect(faults).toEqual([]);
  await close();
}, 120_000);

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
  120_000,
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
}, 120_000);

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
}, 120_000);

test("the next step of an escrow's page is signed with the wallet", async () => {
  const { page, faults, close } = await pageWithWallet("signs");
  await page.goto(`${service.url}/escrows/${PENDING}`);
  await page.locator('a[href*="action=claim_refund"]').click();
  await page.getByRole("button", { name: "Take the address of" }).click();
  await page.getByText("stands in the form now").waitFor();
  await page.getByRole("button", { name: "Prepare" }).click();
  await page.getByText("REFUND").first().waitFor();
  await sign(page);
  await page.getByText("Done: the service says").waitFor();
  await page.getByRole("link", { name: "The escrow" }).click();
  await page.getByText("Refunded").first().waitFor();
  expect(faults).toEqual([]);
  await close();
}, 120_000);

test.each([
  ["Pay, then release", "Released: the merchant has the money.", "Fulfilled"],
  ["Pay, then refund", "Refunded: the agent has its money again.", "Refunded"],
])(
  "the home page of a local ledger has the demo: %s",
  async (button, ended, state) => {
    const { page, faults, close } = await pageWithWallet("signs");
    await page.goto(service.url);
    await page.getByRole("button", { name: button }).click();
    await page.getByText(ended).waitFor({ timeout: 60_000 });
    await page.locator("#demo").getByRole("link", { name: "The escrow" }).click();
    await page.getByText(state).first().waitFor();
    expect(faults).toEqual([]);
    await close();
  },
  120_000,
);
