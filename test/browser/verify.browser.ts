import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { projectCommand } from "../../core/domain/project-command.ts";
import { FULFILLED, walletService } from "../app/wallets/wallet-service.ts";
import { CALL, PACKET, PAYLOAD, TRUST } from "../adapters/http/pages/verify/given-documents.ts";
import { testBrowser } from "./chromium.ts";
import { faultsByView, openPage as openedPage } from "./walk.ts";

let service: Awaited<ReturnType<typeof walletService>>;
let browser: Browser;
const folder = mkdtempSync(join(tmpdir(), "receipts-"));

beforeAll(async () => {
  service = await walletService();
  browser = await testBrowser();
}, 600_000);

afterAll(async () => {
  await browser?.close();
  await service?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const openPage = (isOffline = false) =>
  openedPage(browser, service.url, { acceptDownloads: true, offline: isOffline });

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
  const { page, faults, close } = await openPage();
  await page.goto(`${service.url}/verify?escrow=${FULFILLED}`);
  await page.getByText("The trust document is that of").waitFor();
  expect(await verdictsOf(page)).toEqual(["Verified"]);
  expect(await page.locator("#trouble").innerText()).toBe("");
  expect(await faultsByView(page, "verify an escrow")).toEqual({});
  expect(faults).toEqual([]);
  await close();
}, 600_000);

test("files in any order are judged, a changed one fails, and none is sent", async () => {
  const { page, asked, faults, close } = await openPage();
  await page.goto(`${service.url}/verify`);
  await page
    .locator("#files")
    .setInputFiles([file("c", PAYLOAD), file("d", CALL), file("a", TRUST), file("b", PACKET)]);
  await page.getByText("payload_template").waitFor();
  expect(await verdictsOf(page)).toEqual(["Verified", "Verified"]);
  expect(await faultsByView(page, "verify files")).toEqual({});
  await page.locator("#pasted").fill(PACKET.replace('"Fulfilled"', '"Refunded"'));
  await page.locator("#add").click();
  await page.locator("#verdict .pill.bad").first().waitFor();
  expect(await verdictsOf(page)).toEqual(["Failed", "Verified"]);
  expect(await faultsByView(page, "verify a changed packet")).toEqual({});
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
  expect(faults).toEqual([]);
  await close();
}, 600_000);

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
  expect(await faultsByView(sound.page, "receipt")).toEqual({});
  expect(await sound.page.getByText("The trust document is that of").innerText()).toContain(
    "whoever made this file",
  );
  expect(await sound.page.locator(".copy:visible").count()).toBe(0);
  expect(sound.asked).toEqual([sound.address]);
  expect(sound.faults).toEqual([]);
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
}, 600_000);

test("the verifier in one file judges its reader's documents from disk, offline", async () => {
  const template = await (await fetch(`${service.url}/assets/receipt.html`)).text();
  const { page, asked, address, faults, close } = await openReceipt("verify.html", template);
  await page.getByRole("heading", { name: "The verifier in one file" }).waitFor();
  await page.locator("#own").setInputFiles([file("p", PACKET), file("c", CALL), file("t", TRUST)]);
  expect(await verdictsOf(page)).toEqual(["Verified", "Verified"]);
  expect(await faultsByView(page, "verifier in one file")).toEqual({});
  const forged = PACKET.replace('"Fulfilled"', '"Refunded"');
  await page.locator("#own").setInputFiles([file("p", forged)]);
  await page.locator("#verdict .pill.bad").first().waitFor();
  expect(await verdictsOf(page)).toEqual(["Failed", "Verified"]);
  await page
    .locator("#own")
    .setInputFiles([{ ...file("picture", ""), buffer: Buffer.of(255, 254) }]);
  await page.getByText("No text in UTF-8, so not read: picture.").waitFor();
  expect(asked).toEqual([address]);
  expect(faults).toEqual([]);
  await close();
}, 600_000);

test("the receipt that an escrow's page saves verifies from disk, and names its trust document", async () => {
  const { page, faults: own, close } = await openPage();
  await page.goto(`${service.url}/escrows/${FULFILLED}`);
  await page.getByText("Evidence packet", { exact: true }).click();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "save a receipt that checks itself" }).click(),
  ]);
  expect(download.suggestedFilename()).toBe(`receipt-${FULFILLED}.html`);
  const receipt = readFileSync(await download.path(), "utf8");
  expect(own).toEqual([]);
  await close();
  const opened = await openReceipt("own.html", receipt);
  expect(await verdictsOf(opened.page)).toEqual(["Verified"]);
  const whose = opened.page.getByText("The trust document is that of");
  expect(await whose.innerText()).toContain(service.url);
  expect(opened.asked).toEqual([opened.address]);
  expect(opened.faults).toEqual([]);
  await opened.close();
}, 600_000);

test("a packet that is dropped on the home page is judged on /verify, and sent to nobody", async () => {
  const { page, asked, faults, close } = await openPage();
  await page.goto(service.url);
  await page.getByText("Or drop a packet anywhere on this page").waitFor();
  const dropped = await page.evaluateHandle(
    (texts) => {
      const transfer = new DataTransfer();
      for (const [name, text] of texts) transfer.items.add(new File([text], name));
      return transfer;
    },
    [
      ["packet.json", PACKET],
      ["trust.json", TRUST],
    ] as const,
  );
  await page.dispatchEvent("main", "drop", { dataTransfer: dropped });
  await page.waitForURL(`${service.url}/verify`);
  expect(await verdictsOf(page)).toEqual(["Verified"]);
  await page.getByRole("cell", { name: "packet.json", exact: true }).waitFor();
  const bodies = asked.filter(
    (url) => !/(\/|\/verify|\/assets\/[^/]+|icon\.svg|events\/stream)$/.test(url),
  );
  expect({ bodies, faults }).toEqual({ bodies: [], faults: [] });
  await page.reload();
  await page.getByText("Nothing was given yet.").waitFor();
  await close();
}, 600_000);

test("without script the page says how to do it from a command line", async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`${service.url}/verify?escrow=${FULFILLED}`);
  await page.getByText("which does not run here").waitFor();
  await page.getByText("From a command line").click();
  await page.getByText(projectCommand("cli verify packet.json")).waitFor();
  expect(await page.locator("#verifier").isVisible()).toBe(false);
  await context.close();
}, 600_000);
