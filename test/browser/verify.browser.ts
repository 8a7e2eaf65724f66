import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import axe, { type AxeResults } from "axe-core";
import type { Browser, Page } from "playwright-core";
import { FULFILLED, walletService } from "../app/wallets/wallet-service.ts";
import { CALL, PACKET, PAYLOAD, TRUST } from "../adapters/http/pages/verify/given-documents.ts";
import { browserProgram, launchBrowser } from "./chromium.ts";

if (browserProgram === null) {
  process.stderr.write(
    "chromium is not installed, so nothing was tested. Debian and Ubuntu: apt-get install chromium\n",
  );
  process.exit(1);
}

/** A folder for pictures, empty for none. */
const PICTURES = process.env["PAGE_PICTURES"] ?? "";
const VIEWS = [
  ["desktop, light", { width: 1280, height: 900 }, "light"],
  ["desktop, dark", { width: 1280, height: 900 }, "dark"],
  ["phone, light", { width: 375, height: 812 }, "light"],
  ["phone, dark", { width: 375, height: 812 }, "dark"],
] as const;

let service: Awaited<ReturnType<typeof walletService>>;
let browser: Browser;
const folder = mkdtempSync(join(tmpdir(), "receipts-"));

beforeAll(async () => {
  service = await walletService();
  browser = await launchBrowser(browserProgram ?? "");
}, 120_000);

afterAll(async () => {
  await browser?.close();
  await service?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A page, everything that it asks for, and every complaint of its console. */
const openPage = async (isOffline = false) => {
  const context = await browser.newContext({ acceptDownloads: true, offline: isOffline });
  const page = await context.newPage();
  const asked: Array<string> = [];
  const complaints: Array<string> = [];
  page.on("request", (request) => asked.push(request.url()));
  page.on("pageerror", ({ message }) => complaints.push(message));
  page.on("console", (line) => {
    if (line.type() === "error" || line.type() === "warning") complaints.push(line.text());
  });
  return { page, asked, complaints, close: () => context.close() };
};

/** What is wrong with a page in each view: what axe finds, and what scrolls sideways. */
const faultsIn = async (page: Page, name: string): Promise<ReadonlyArray<string>> => {
  const faults: Array<string> = [];
  for (const [view, size, colorScheme] of VIEWS) {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme });
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate<AxeResults>(
      'axe.run(document, { resultTypes: ["violations"] })',
    );
    faults.push(...violations.map(({ id, nodes }) => `${view}: ${id}: ${nodes[0]?.html}`));
    const isSideways = await page.evaluate(
      () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
    );
    if (isSideways) faults.push(`${view}: scrolls sideways`);
    if (PICTURES !== "")
      await page.screenshot({
        path: join(PICTURES, `${name} ${view}.png`.replaceAll(/[^\w.]+/g, "-")),
        fullPage: true,
      });
  }
  return faults;
};

const verdictsOf = async (page: Page): Promise<ReadonlyArray<string>> => {
  await page.locator("#verdict .pill").first().waitFor();
  const texts = await page.locator("#verdict .verdict").allInnerTexts();
  return texts.map((text) => text.replaceAll(/[^\w, ]/g, "").trim());
};

const file = (name: string, text: string) => ({
  name,
  mimeType: "application/octet-stream",
  buffer: Buffer.from(text),
});

/** Opens a receipt from disk, without any network. */
const openReceipt = async (name: string, receipt: string) => {
  const path = join(folder, name);
  writeFileSync(path, receipt);
  const opened = await openPage(true);
  const address = pathToFileURL(path).href;
  await opened.page.goto(address);
  return { ...opened, address };
};

test("a link to an escrow is judged by itself, and says whose trust document that was", async () => {
  const { page, asked, complaints, close } = await openPage();
  await page.goto(`${service.url}/verify?escrow=${FULFILLED}`);
  await page.getByText("The trust document is that of").waitFor();
  expect(await verdictsOf(page)).toEqual(["Verified"]);
  expect(await page.locator("#trouble").innerText()).toBe("");
  expect(await faultsIn(page, "verify an escrow")).toEqual([]);
  expect(asked.filter((url) => !url.startsWith(service.url))).toEqual([]);
  expect(complaints).toEqual([]);
  await close();
}, 120_000);

test("files in any order are judged, a changed one fails, and none is sent", async () => {
  const { page, asked, complaints, close } = await openPage();
  await page.goto(`${service.url}/verify`);
  await page
    .locator("#files")
    .setInputFiles([file("c", PAYLOAD), file("d", CALL), file("a", TRUST), file("b", PACKET)]);
  await page.getByText("payload_template").waitFor();
  expect(await verdictsOf(page)).toEqual(["Verified", "Verified"]);
  expect(await faultsIn(page, "verify files")).toEqual([]);
  await page.locator("#pasted").fill(PACKET.replace('"Fulfilled"', '"Refunded"'));
  await page.locator("#add").click();
  await page.locator("#verdict .pill.bad").first().waitFor();
  expect(await verdictsOf(page)).toEqual(["Failed", "Verified"]);
  expect(await faultsIn(page, "verify a changed packet")).toEqual([]);
  await page.getByRole("button", { name: "Remove pasted" }).click();
  expect(await verdictsOf(page)).toEqual(["Verified"]);
  const dropped = await page.evaluateHandle((text) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([text], "dropped.json"));
    return transfer;
  }, PACKET);
  await page.dispatchEvent("#drop", "drop", { dataTransfer: dropped });
  await page.getByRole("cell", { name: "dropped.json", exact: true }).waitFor();
  expect(await verdictsOf(page)).toEqual(["Verified", "Verified"]);
  expect(asked.filter((url) => !/\/(verify|assets\/[^/]+|icon\.svg)$/.test(url))).toEqual([]);
  expect(complaints).toEqual([]);
  await close();
}, 120_000);

test("what a saved receipt says from disk, offline: verified, failed with one byte changed, and no request", async () => {
  const { page, close } = await openPage();
  await page.goto(`${service.url}/verify`);
  await page.locator("#files").setInputFiles([file("packet", PACKET), file("trust", TRUST)]);
  await verdictsOf(page);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Save as one file" }).click(),
  ]);
  const receipt = readFileSync(await download.path(), "utf8");
  await close();

  const sound = await openReceipt("sound.html", receipt);
  expect(await verdictsOf(sound.page)).toEqual(["Verified"]);
  expect(await faultsIn(sound.page, "receipt")).toEqual([]);
  expect(await sound.page.getByText("The trust document is that of").innerText()).toContain(
    "whoever made this file",
  );
  expect(await sound.page.locator(".copy:visible").count()).toBe(0);
  expect(sound.asked).toEqual([sound.address]);
  expect(sound.complaints).toEqual([]);
  const refused = await sound.page.evaluate(() =>
    fetch("https://example.com").then(
      () => "answered",
      () => "refused",
    ),
  );
  expect(refused).toBe("refused");
  await sound.page
    .locator("#own")
    .setInputFiles([file("other.json", TRUST.replace('"localnet"', '"devnet"'))]);
  await sound.page.locator("#verdict .pill.bad").first().waitFor();
  expect(await verdictsOf(sound.page)).toEqual(["Failed"]);
  await sound.close();

  const changed = receipt.replace(String.raw`\"Fulfilled\"`, String.raw`\"Fulfillec\"`);
  expect(changed).not.toBe(receipt);
  const broken = await openReceipt("broken.html", changed);
  expect(await verdictsOf(broken.page)).toEqual(["Failed"]);
  expect(broken.asked).toEqual([broken.address]);
  await broken.close();
}, 180_000);

test("the verifier in one file judges its reader's documents from disk, offline", async () => {
  const template = await (await fetch(`${service.url}/assets/receipt.html`)).text();
  const { page, asked, address, complaints, close } = await openReceipt("verify.html", template);
  await page.getByRole("heading", { name: "The verifier in one file" }).waitFor();
  await page.locator("#own").setInputFiles([file("p", PACKET), file("c", CALL), file("t", TRUST)]);
  expect(await verdictsOf(page)).toEqual(["Verified", "Verified"]);
  expect(await faultsIn(page, "verifier in one file")).toEqual([]);
  const forged = PACKET.replace('"Fulfilled"', '"Refunded"');
  await page.locator("#own").setInputFiles([file("p", forged)]);
  await page.locator("#verdict .pill.bad").first().waitFor();
  expect(await verdictsOf(page)).toEqual(["Failed", "Verified"]);
  await page
    .locator("#own")
    .setInputFiles([{ ...file("picture", ""), buffer: Buffer.of(255, 254) }]);
  await page.getByText("No text in UTF-8, so not read: picture.").waitFor();
  expect(asked).toEqual([address]);
  expect(complaints).toEqual([]);
  await close();
}, 120_000);

test("the service's own receipt of an escrow verifies from disk, and names its trust document", async () => {
  const answer = await fetch(`${service.url}/receipts/${FULFILLED}`, {
    headers: { accept: "text/html" },
  });
  const { page, asked, address, complaints, close } = await openReceipt(
    "own.html",
    await answer.text(),
  );
  expect(await verdictsOf(page)).toEqual(["Verified"]);
  expect(await page.getByText("The trust document is that of").innerText()).toContain(service.url);
  expect(asked).toEqual([address]);
  expect(complaints).toEqual([]);
  await close();
}, 120_000);

test("without script the page says how to do it from a command line", async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`${service.url}/verify?escrow=${FULFILLED}`);
  await page.getByText("which does not run here").waitFor();
  await page.getByText("From a command line").click();
  await page.getByText("bun run cli verify packet.json").waitFor();
  expect(await page.locator("#verifier").isVisible()).toBe(false);
  await context.close();
}, 120_000);
