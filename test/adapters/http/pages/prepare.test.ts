import { expect, test } from "bun:test";
import { walletAccount } from "../../../doubles/accounts.ts";
import { escrow, merchant, STRANGER } from "../support/parties.ts";
import { standing } from "../support/standing-service.ts";

const SCRIPT = `<script>alert(1)</script>`;
const { service } = await standing();
const [open, back] = [escrow("pending"), escrow("refunded", "Refunded")];
service.seed({
  escrows: [open, back],
  merchants: [merchant(undefined, SCRIPT), merchant(STRANGER, SCRIPT)],
});
service.ledger.put(walletAccount(open.merchant, 1_000_000_000n));
await service.app.handle(new Request("http://localhost/v1/indexer/sync", { method: "POST" }));

const ask = (path: string, init: RequestInit = { headers: { accept: "text/html,*/*;q=0.8" } }) =>
  service.app.handle(new Request(`http://localhost${path}`, init));

const pageOf = async (path: string) => {
  const answer = await ask(path);
  const page = await answer.text();
  const text = page
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll("&#39;", "'")
    .replaceAll("&quot;", '"')
    .replaceAll(/\s+/g, " ");
  return { status: answer.status, page, text };
};

/** A filled form as a browser sends it. */
const form = (changed: Readonly<Record<string, string>> = {}): string =>
  `/prepare?${new URLSearchParams({
    agent: open.agentOwner,
    merchant: merchant().wallet,
    amount: "1.5",
    mint: open.mint,
    ttl: "60",
    task: "GET /quotes",
    nonce: "order-1",
    ...changed,
  })}`;

/** The faults that stand beside a field. */
const faultsBeside = (page: string, name: string): string =>
  new RegExp(`id="p-${name}-hint" class="note">(.*?)</div>`, "s").exec(page)?.[1] ?? "";

test("the empty form asks, and finds no fault before anything is sent", async () => {
  const { status, page } = await pageOf("/prepare");
  expect(status).toBe(200);
  expect(page).not.toContain("aria-invalid");
  for (const name of ["agent", "merchant", "amount", "mint", "ttl", "task", "nonce"])
    expect(page).toContain(`name="${name}"`);
});

test("a link fills in a part of the form, and nothing is judged yet", async () => {
  const { status, page } = await pageOf(`/prepare?merchant=${merchant().wallet}&amount=2.50`);
  expect(status).toBe(200);
  expect(page).toContain(`value="${merchant().wallet}"`);
  expect(page).toContain(`value="2.50"`);
  expect(page).not.toContain("aria-invalid");
});

test.each([
  ["agent", "x"],
  ["merchant", ""],
  ["amount", "1.1234567"],
  ["amount", "-1"],
  ["ttl", "0"],
  ["ttl", "soon"],
  ["task", ""],
  ["nonce", "n".repeat(129)],
])("a fault of the service stands beside its field: %s %p", async (name, value) => {
  const { status, page } = await pageOf(form({ [name]: value }));
  expect(status).toBe(422);
  expect(faultsBeside(page, name)).toContain("✗");
  expect(page.match(/aria-invalid/g)).toHaveLength(1);
});

test("every wrong field is marked at once, whatever is wrong with it", async () => {
  const wrong = {
    agent: "x",
    merchant: "1".repeat(32),
    amount: "abc",
    ttl: "soon",
    task: "",
    nonce: "n".repeat(129),
  };
  const { status, page } = await pageOf(form(wrong));
  expect(status).toBe(422);
  for (const name of Object.keys(wrong))
    expect([name, faultsBeside(page, name).match(/✗/g)?.length]).toEqual([name, 1]);
});

test.each(["", "0", "abc", "1,50", "1.1234567"])(
  "an amount of %p is told in money, as it is typed, not in base units",
  async (amount) => {
    const { page } = await pageOf(form({ amount }));
    expect(faultsBeside(page, "amount")).toContain("with at most 6 decimals");
    expect(faultsBeside(page, "amount")).not.toContain("integer");
  },
);

test("a filled form shows what it comes to, what it costs, and what is in the way", async () => {
  const { status, text } = await pageOf(form());
  expect(status).toBe(200);
  for (const words of [
    "1.500000 USDC",
    "1 other has this name",
    "1 minute after it lands",
    "Attestor",
    "Back when it is settled 0.002039280 SOL",
    "Never back",
  ])
    expect(text).toContain(words);
  expect(text).toContain("fund the one that was named");
  expect(text).toContain("There is none to sign while something is in the way");
});

test("what was typed stays as it was, however long, and nothing of it is markup", async () => {
  const task = `${SCRIPT} it's "${"q".repeat(900)}"`;
  const { page } = await pageOf(form({ task }));
  expect(page).not.toContain(SCRIPT);
  const value = /name="task"[^>]*?value="([^"]*)"/s.exec(page)?.[1] ?? "";
  const unescaped = value
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'");
  expect(unescaped).toBe(task);
});

test("what can be done with an escrow is prepared for the wallet that must sign, in sentences", async () => {
  const { status, page, text } = await pageOf(
    `/prepare?escrow=${open.address}&action=cancel_escrow`,
  );
  expect(status).toBe(200);
  expect(page).toContain(`value="${open.merchant}"`);
  expect(page).toContain('data-does="cancel_escrow"');
  expect(text).toContain("CANCEL");
  expect(text).toContain(open.address);
  expect(text).toContain("What it costs");
});

test.each([
  [`escrow=${back.address}&action=cancel_escrow`, "cannot be done with the escrow now"],
  [`escrow=${open.address}&action=nonsense`, "cannot be done with the escrow now"],
  [`escrow=${open.address}&action=release_escrow`, "needs more than a wallet"],
])("what a wallet cannot do is said: %s", async (query, words) => {
  const { text } = await pageOf(`/prepare?${query}`);
  expect(text).toContain(words);
});

test("an escrow that is not there is a problem page", async () => {
  const { status, page } = await pageOf(
    `/prepare?escrow=${merchant().wallet}&action=cancel_escrow`,
  );
  expect(status).toBe(404);
  expect(page).toContain("/problems/escrow_not_found");
});

test("a command of an escrow's page has members that the service takes", async () => {
  const { text, page } = await pageOf(`/escrows/${open.address}`);
  expect(page).toContain(`/prepare?escrow=${open.address}&amp;action=cancel_escrow`);
  const release = /-d '(\{[^']*\})' '[^']*release\/prepare'/.exec(text);
  // What the reader must fill in stands there in words.
  expect(JSON.parse(release?.[1] ?? "")).toEqual({
    proof_hash: "PROOF HASH",
    timestamp: "TIMESTAMP",
    attestation_signature: "ATTESTATION SIGNATURE",
    payer: "YOUR WALLET",
  });
  const command = /-d '(\{[^']*\})' '([^']*cancel\/prepare)'/.exec(text);
  const answer = await ask(new URL(command?.[2] ?? "").pathname, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: (command?.[1] ?? "").replace("YOUR WALLET", open.merchant),
  });
  expect(answer.status).toBe(200);
});

test("the scripts that sign are bundles of their own, which pages load when they are wanted", async () => {
  for (const name of ["wallets", "sign", "demo"]) {
    const answer = await ask(`/assets/${name}.js`, {});
    expect([name, answer.status]).toEqual([name, 200]);
    expect(answer.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    const tag = answer.headers.get("etag") ?? "";
    const again = await ask(`/assets/${name}.js`, { headers: { "if-none-match": tag } });
    expect(again.status).toBe(304);
  }
  const { page } = await pageOf("/prepare");
  expect(page).not.toContain('<script type="module" src="/assets/sign.js"');
});
