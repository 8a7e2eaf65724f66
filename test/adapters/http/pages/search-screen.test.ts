import { expect, test } from "bun:test";
import { taskHash } from "../../../../core/domain/escrow/task-hash.ts";
import { escrow, merchant, STRANGER } from "../support/parties.ts";
import { standing } from "../support/standing-service.ts";

const BROWSER = "text/html,*/*;q=0.8";
const HOSTILE = "<script>alert(1)</script>";
const { service, client } = await standing();
const paid = escrow("released", "Fulfilled");
const open = escrow("pending");
service.seed({
  escrows: [paid, open],
  merchants: [{ ...merchant(), name: HOSTILE }],
});
await service.app.handle(new Request("http://localhost/v1/indexer/sync", { method: "POST" }));

const find = async (text: string) =>
  (await (await client.send(`/v1/search?q=${encodeURIComponent(text)}`)).json()) as {
    readonly understood_as: string;
    readonly data: ReadonlyArray<{
      readonly kind: string;
      readonly path: string;
      readonly by: string;
    }>;
  };

const pageOf = (text: string) =>
  service.app.handle(
    new Request(`http://localhost/search?q=${encodeURIComponent(text)}`, {
      headers: { accept: BROWSER },
    }),
  );

test.each([
  ["an escrow's address", open.address, `/escrows/${open.address}`, "address"],
  ["an address with blanks around it", ` ${open.address} `, `/escrows/${open.address}`, "address"],
  ["an agent's wallet", open.agentOwner, `/wallets/${open.agentOwner}`, null],
  ["a merchant's wallet", merchant().wallet, `/merchants/${merchant().wallet}`, null],
  ["a merchant's account", merchant().address, `/merchants/${merchant().wallet}`, null],
  ["a merchant's name", HOSTILE, `/merchants/${merchant().wallet}`, null],
  ["a task hash", open.taskHash, `/escrows/${open.address}`, "task_hash"],
  ["a task hash in capitals", open.taskHash.toUpperCase(), `/escrows/${open.address}`, "task_hash"],
  [
    "a proof hash",
    `sha256:${paid.attestation?.proofHash}`,
    `/escrows/${paid.address}`,
    "proof_hash",
  ],
  ["a transaction", "2".repeat(88), "/transactions/{q}", null],
])("%s leads to its page", async (_, text, path, by) => {
  const { data } = await find(text);
  expect(data).toContainEqual(expect.objectContaining({ path, by }));
  const page = await pageOf(text);
  const place = path.replace("{q}", text);
  if (data.length === 1) expect([page.status, page.headers.get("location")]).toEqual([302, place]);
  else expect(await page.text()).toContain(`href="${place}"`);
});

test("a part of a name is listed, as text", async () => {
  const page = await pageOf("alert(1");
  expect(page.status).toBe(200);
  const text = await page.text();
  expect(text).toContain(`href="/merchants/${merchant().wallet}"`);
  expect(text).toContain("a part of it");
  expect(text).not.toContain(HOSTILE);
});

test.each([
  ["address", STRANGER, "It is an address."],
  ["hash", taskHash("nobody's task"), "It is a hash."],
  ["log_position", "77", "It is a number."],
  ["name", `nobody ${HOSTILE}`, "looked for in the merchants"],
])("of what is not there the page says that it was understood as %s", async (form, text, words) => {
  expect(await find(text)).toMatchObject({ understood_as: form, data: [] });
  const page = await (await pageOf(text)).text();
  expect(page).toContain(words);
  expect(page).not.toContain(HOSTILE);
});

test("merchants of one name differ by their wallets", async () => {
  const { wallet } = merchant();
  expect(await (await pageOf("alert(1")).text()).toContain(
    `<code class="key" title="${wallet}">${wallet.slice(0, 6)}`,
  );
});

test("the command of a text with blanks asks for the whole of it, and a long text has none", async () => {
  expect(await (await pageOf("no body & #1")).text()).toContain(
    "/v1/search?q=no%20body%20%26%20%231&#39;",
  );
  expect(await (await pageOf("n".repeat(37))).text()).not.toContain("/v1/search?q=");
});

test("no id stands twice in a page with two search boxes", async () => {
  const page = await (await pageOf("nobody at all")).text();
  const ids = Array.from(page.matchAll(/ id="([^"]*)"/g), ([, id]) => id);
  expect(ids).toContain("find-all");
  expect(new Set(ids).size).toBe(ids.length);
});

test("an empty box is asked again", async () => {
  expect(await (await pageOf(" ")).text()).toContain('role="search"');
});
