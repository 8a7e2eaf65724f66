import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser, Locator, Page } from "playwright-core";
import { connectMerchant } from "../../client/merchant/connect-merchant.ts";
import { localKey } from "../../adapters/local-ledger/genesis/local-keys.ts";
import { FULFILLED, walletService } from "../app/wallets/wallet-service.ts";
import { until } from "../app/support/running-service.ts";
import { testBrowser } from "./chromium.ts";
import { walletPage } from "./wallet-page.ts";

// Five questions of somebody who has never seen the pages, from `/` alone: every step is a thing that is visible, by the
// name that people read.

const AGENT = localKey("agent/planner");
const NAME = "Skyline Forecast API";
const BOX = "Escrow, transaction, wallet, merchant, hash, digest or log position";

let service: Awaited<ReturnType<typeof walletService>>;
let browser: Browser;

/** Somebody registers the name that a merchant of the demo has already. */
const registerTheName = async (): Promise<void> => {
  const { address, sign } = localKey("impostor");
  await service.rpc("requestAirdrop", [address, 1_000_000_000]);
  const trust = await (await fetch(`${service.url}/.well-known/evidence-trust.json`)).text();
  await connectMerchant(service.url, { trust }).register({
    wallet: { publicKey: address, sign: (bytes) => Promise.resolve(sign(bytes)) },
    attestor: localKey("impostor's attestor").address,
    name: NAME,
  });
  const listed = `${service.url}/v1/registry/merchants?q=${encodeURIComponent(NAME)}`;
  await until(
    "the index has both",
    async () => {
      await fetch(`${service.url}/v1/indexer/sync`, { method: "POST" });
      return ((await (await fetch(listed)).json()) as { readonly data: ReadonlyArray<object> })
        .data;
    },
    (merchants) => merchants.length === 2,
  );
};

beforeAll(async () => {
  service = await walletService();
  browser = await testBrowser();
  await registerTheName();
}, 600_000);

afterAll(async () => {
  await browser?.close();
  await service?.stop();
});

/**
 * Seconds of a person: to think of a step, point and click, to paste a text or choose a file, and to read what a step
 * showed. The first two are those of Card, Moran and Newell's keystroke-level model (1.35 + 1.1 + 0.2), rounded up.
 */
const SECONDS = { click: 3, give: 4, read: 5 } as const;

/** A new user at `/`: what they do, and how long that takes people. */
const newUser = async () => {
  const { page, faults, close } = await walletPage(browser, service.url, AGENT);
  const done = { click: 0, give: 0, read: 0 };
  const waited = performance.now();
  await page.goto(service.url);
  const click = async (step: Locator): Promise<void> => {
    done.click += 1;
    await step.click();
  };
  return {
    page,
    click,
    follow: (name: string | RegExp) => click(page.getByRole("link", { name }).first()),
    press: (name: string | RegExp) => click(page.getByRole("button", { name }).first()),
    fill: async (label: string, text: string): Promise<void> => {
      done.give += 1;
      await page.getByLabel(label, { exact: true }).first().fill(text);
    },
    choose: async (label: string, files: ReadonlyArray<readonly [string, string]>) => {
      done.give += 1;
      await page.getByLabel(label).setInputFiles(
        files.map(([name, text]) => ({
          name,
          mimeType: "text/plain",
          buffer: Buffer.from(text),
        })),
      );
    },
    /** Reads, and finds the words. */
    reads: async (...words: ReadonlyArray<string | RegExp>): Promise<void> => {
      done.read += 1;
      for (const word of words)
        await page.getByText(word).locator("visible=true").first().waitFor();
    },
    /** Ends the visit. Gives the steps, and whether people need less than a minute for them. */
    end: async (task: string) => {
      await close();
      const kinds = ["click", "give", "read"] as const;
      const seconds = kinds.reduce((sum, kind) => sum + done[kind] * SECONDS[kind], 0);
      const machine = ((performance.now() - waited) / 1000).toFixed(1);
      process.stdout.write(
        `${task}: ${done.click} clicks, ${done.give} texts or files, ${done.read} looks; a person ${seconds} s, this machine ${machine} s\n`,
      );
      return { clicks: done.click, isUnderAMinute: seconds < 60, faults: faults };
    },
  };
};

const DONE = { isUnderAMinute: true, faults: [] };

const rows = (page: Page) => page.getByRole("row");

test("what became of this signature?", async () => {
  const listed = await fetch(`${service.url}/v1/indexer/events?limit=1`);
  const { data } = (await listed.json()) as { data: [{ readonly signature: string }] };
  const user = await newUser();
  await user.fill(BOX, data[0].signature);
  await user.press("Find");
  await user.reads("landed", "Do not sign it again: it happened.");
  expect(await user.end("signature")).toEqual({ clicks: 1, ...DONE });
}, 600_000);

test("is this packet true?", async () => {
  const textAt = async (path: string) => (await fetch(service.url + path)).text();
  const packet = await textAt(`/v1/evidence/${FULFILLED}`);
  const trust = await textAt("/.well-known/evidence-trust.json");
  const user = await newUser();
  await user.follow("Verify");
  await user.choose("Drop files here, or choose them", [
    ["packet.json", packet],
    ["trust.json", trust],
  ]);
  await user.reads("This evidence packet holds under the trust document that was given.");
  expect(await user.end("packet")).toEqual({ clicks: 1, ...DONE });
}, 600_000);

test("refund my payment", async () => {
  const user = await newUser();
  await user.fill(BOX, AGENT.address);
  await user.press("Find");
  await user.reads("Can be refunded now", "1 can be refunded now: open one, and run its refund.");
  const due = user.page.getByRole("region", { name: "Over, with money left in them" });
  await user.click(due.getByRole("link").first());
  await user.reads("Anyone can send");
  await user.follow("Prepare it: Send what is left to the agent");
  await user.press(/^Take the address of/);
  await user.press("Prepare");
  await user.reads(/REFUND/);
  await user.press(/^Sign with/);
  await user.reads("Done: the service says");
  await user.follow("The escrow");
  await user.reads("Settled: the money went back");
  expect(await user.end("refund")).toEqual({ clicks: 7, ...DONE });
}, 600_000);

test("which merchant is the real one?", async () => {
  const user = await newUser();
  await user.follow("Merchants");
  await user.fill("Name, wallet or key", NAME);
  await user.press("Show");
  await user.reads("1 other has this name", "Anybody can register any name.");
  // The one that has delivered came first; the other has no history.
  const [, first, second] = await rows(user.page).allInnerTexts();
  expect(first).toContain("12.500000 USDC");
  expect(second).toContain("0.000000 USDC");
  await user.follow(NAME);
  await user.reads("Another merchant has", "Deliveries", "Attestor history");
  expect(await user.end("merchant")).toEqual({ clicks: 3, ...DONE });
}, 600_000);

test("is the log healthy?", async () => {
  const user = await newUser();
  // A machine under load is behind its ledger for a while, and says so.
  await user.reads(/The service (works|is degraded)/);
  await user.follow("Log");
  await user.reads(
    "Nothing keeps it from growing.",
    "The root that was signed is the one that the custody program keeps on the ledger.",
  );
  expect(await user.end("log")).toEqual({ clicks: 1, ...DONE });
}, 600_000);
