import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { FULFILLED, walletService } from "../app/wallets/wallet-service.ts";
import { PACKET } from "../adapters/http/pages/verify/given-documents.ts";
import { testBrowser } from "./chromium.ts";
import { openPage, violationsIn } from "./walk.ts";

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

/** What a reader can act on, as selectors of the browser's own Tab stops. */
const CONTROLS =
  'a[href], button:enabled, input:enabled:not([type="hidden"]), select, textarea, summary, [tabindex="0"]';

/** Names of the page's visible controls, in the order in which they stand. */
const controlsOf = (page: Page): Promise<ReadonlyArray<string>> =>
  page.evaluate((selector) => {
    const shown = [...document.querySelectorAll<HTMLElement>(selector)].filter((each) =>
      each.checkVisibility({ visibilityProperty: true }),
    );
    shown.forEach((each, at) => (each.dataset["stop"] = `${at} ${each.tagName}`));
    return shown.map(({ dataset }) => dataset["stop"] ?? "");
  }, CONTROLS);

/** Presses Tab through the page. Gives the controls that had the focus, in order, and those where nobody sees it. */
const walkByTab = async (page: Page, most: number) => {
  const reached: Array<string> = [];
  const unseen: Array<string> = [];
  for (let presses = 0; presses <= most; presses++) {
    await page.keyboard.press("Tab");
    const focus = await page.evaluate(() => {
      const at = document.activeElement;
      if (!(at instanceof HTMLElement) || at === document.body) return null;
      const { outlineStyle, outlineWidth } = getComputedStyle(at);
      const { width, height, right, bottom } = at.getBoundingClientRect();
      const isOutlined = outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
      const isSeen = isOutlined && width > 0 && height > 0 && right > 0 && bottom > 0;
      return { name: at.dataset["stop"] ?? at.tagName, isSeen };
    });
    if (focus === null) break;
    reached.push(focus.name);
    if (!focus.isSeen) unseen.push(focus.name);
  }
  return { reached, unseen };
};

test.each(["/", `/escrows/${FULFILLED}`, "/escrows", "/verify", "/prepare"])(
  "Tab reaches every control of %s in the order of the page, and the focus is seen",
  async (path) => {
    const { page, faults, close } = await openPage(browser, service.url);
    await page.goto(service.url + path);
    const controls = await controlsOf(page);
    const { reached, unseen } = await walkByTab(page, controls.length + 20);
    expect({ reached, unseen, faults }).toEqual({ reached: [...controls], unseen: [], faults: [] });
    await close();
  },
  600_000,
);

/** Presses Tab until a control of this name has the focus. */
const tabTo = async (page: Page, name: string | RegExp): Promise<void> => {
  for (let presses = 0; presses < 200; presses++) {
    await page.keyboard.press("Tab");
    const text = await page.evaluate(() => {
      const at = document.activeElement;
      const label = at instanceof HTMLInputElement ? at.labels?.[0]?.innerText : undefined;
      const chosen = at instanceof HTMLSelectElement || at instanceof HTMLTextAreaElement;
      return label ?? (chosen ? at.labels[0]?.innerText : at?.textContent)?.trim() ?? "";
    });
    if (typeof name === "string" ? text === name : name.test(text)) return;
  }
  throw new Error(`Tab never comes to ${name}`);
};

test("the keyboard alone finds an escrow, opens its tabs, filters a list, judges a packet and prepares a payment", async () => {
  const { page, close } = await openPage(browser, service.url);
  const { keyboard } = page;
  await page.goto(service.url);
  await tabTo(page, "Escrow, transaction, wallet, merchant, hash, digest or log position");
  await keyboard.insertText(FULFILLED);
  await keyboard.press("Enter");
  await page.waitForURL(`**/escrows/${FULFILLED}`);

  for (const name of ["Raw account", "Evidence packet", "Log proof"]) {
    await tabTo(page, name);
    await keyboard.press("Enter");
    expect(await page.locator("details[open] > summary").allInnerTexts()).toContain(name);
  }

  await page.goto(`${service.url}/escrows`);
  await tabTo(page, "State");
  await keyboard.press("r");
  await tabTo(page, "Show");
  await keyboard.press("Enter");
  await page.waitForURL("**/escrows?state=Refunded*");
  expect(await page.locator("#rows .pill").allInnerTexts()).toEqual(["! Refunded"]);

  await page.goto(`${service.url}/verify`);
  await tabTo(page, "Or paste one");
  await keyboard.insertText(PACKET);
  await tabTo(page, "Add what was pasted");
  await keyboard.press("Enter");
  await page.getByText("Sound, but nobody is trusted yet").waitFor();

  await page.goto(`${service.url}/prepare`);
  await tabTo(page, "Amount");
  await keyboard.insertText("1.5");
  await tabTo(page, "Prepare");
  await keyboard.press("Enter");
  await page.getByText("Not prepared yet: see the fields marked below.").waitFor();
  expect(await page.getByLabel("Amount").inputValue()).toBe("1.5");
  await close();
}, 600_000);

test("the skip link comes first, and forced colours leave every page whole", async () => {
  const { page, faults, close } = await openPage(browser, service.url, {
    viewport: { width: 640, height: 450 },
    forcedColors: "active",
    reducedMotion: "reduce",
  });
  for (const path of ["/", "/escrows", `/escrows/${FULFILLED}`, "/log", "/verify", "/prepare"]) {
    await page.goto(service.url + path);
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe(
      "Skip to the content",
    );
    await page.keyboard.press("Enter");
    expect(new URL(page.url()).hash).toBe("#main");
    expect([path, ...faults.splice(0), ...(await violationsIn(page))]).toEqual([path]);
  }
  await close();
}, 600_000);
