import { afterAll, expect, test } from "bun:test";
import {
  type Condition,
  ledgerDown,
  storeDown,
} from "../../../conformance/http-answers/world/conditions.ts";
import { FULFILLED, PENDING } from "../../../conformance/http-answers/world/escrows.ts";
import { fixedWorld } from "../../../conformance/http-answers/world/fixed-world.ts";

const worlds: Array<Awaited<ReturnType<typeof fixedWorld>>> = [];
afterAll(() => Promise.all(worlds.map(({ end }) => end())));

/** A page's text without its tags, spaces as one, under a condition of the world. */
const textOf = async (path: string, given: Condition = () => undefined, isSynced = true) => {
  const world = await fixedWorld({ logSigner: new Uint8Array(32).fill(3) }, isSynced);
  worlds.push(world);
  given(world);
  const request = new Request(`http://localhost${path}`, { headers: { accept: "text/html" } });
  const page = await (await world.app.handle(request)).text();
  return page.replaceAll(/<[^>]*>/g, " ").replaceAll(/\s+/g, " ");
};

test("before the first sync the home page does not say that the service follows the ledger", async () => {
  const text = await textOf("/", undefined, false);
  expect(text).not.toContain("The service works");
  expect(text).toContain("reads the ledger for the first time");
});

test("while all is well the home page says so, with what the index holds", async () => {
  expect(await textOf("/")).toMatch(/The service works: it follows the ledger\. It has \d+ events/);
});

test("without a node the home page says since when, as every time on a page", async () => {
  const text = await textOf("/", ledgerDown);
  expect(text).toContain("no node of the ledger answers");
  expect(text).toContain("as of its last sync, 2026-03-01 12:01:00 UTC");
});

test("without its store the home page does not speak of a last sync", async () => {
  const text = await textOf("/", storeDown);
  expect(text).toContain("its index is empty, or cannot be read");
  expect(text).not.toContain("last sync");
});

test("an escrow's page says why its events are missing", async () => {
  const path = `/escrows/${FULFILLED.address}`;
  expect(await textOf(path)).toContain("event 4");
  const without = await textOf(path, storeDown);
  expect(without).not.toContain("event 4");
  expect(without).toContain("What happened Events and transactions are missing here.");
});

test("a problem whose detail is its title says so once", async () => {
  const once = (text: string) => text.split("The ledger node gave no usable answer").length - 1;
  expect(once(await textOf(`/escrows/${PENDING.address}`, ledgerDown))).toBe(2);
  expect(once(await textOf("/log", ledgerDown))).toBe(1);
});
