import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { main } from "../../../client/command-line/main.ts";
import { connect } from "../../../client/connect.ts";
import { fileSession } from "../../../client/node/file-session.ts";
import { keySigner, keyText } from "../../../client/node/key-file.ts";
import { memorySessionJournal } from "../../../client/sessions/agent/memory-journal.ts";
import { payFetch } from "../../../client/sessions/agent/pay-fetch.ts";
import { verifyCall } from "../../../core/protocol/verification/verify-call.ts";
import { runHere } from "../../app/support/run-here.ts";
import { temporaryDirectory } from "../../app/support/running-service.ts";
import { failureOf } from "../support/failure-of.ts";
import { agentKey, merchantKey, sellerFixture, sellingAt } from "./seller-fixture.ts";

let fixture: Awaited<ReturnType<typeof sellerFixture>>;
let selling: ReturnType<typeof sell>;

/** A seller over HTTP, at 0.01 a call, that says what it was asked. */
const sell = () =>
  sellingAt(fixture, async (asked, { count }) =>
    Response.json({ count, echo: await asked.text() }),
  );

beforeAll(async () => {
  fixture = await sellerFixture();
  selling = sell();
}, 120_000);
afterAll(async () => {
  await selling.stop();
  await fixture.stop();
});

const signer = keySigner(agentKey.seed);
const PLAN = { merchant: merchantKey.address, budget: "1.00", ttl: 3600 };

test("a session is opened, called, settled with its seller, and each call proved", async () => {
  const client = connect(fixture.service.url, { trust: fixture.trust, rpc: fixture.rpc });
  const journal = memorySessionJournal();
  const session = await client.session({ ...PLAN, signer, journal });
  const url = `${selling.url}/quotes`;
  const bodies: Array<Uint8Array> = [];
  // Made at once, they are taken one at a time.
  const answers = await Promise.all(
    [1, 2, 3, 4, 5].map((i) =>
      session.call(`${url}?i=${i}`, { limit: "0.02", method: "POST", body: `order ${i}` }),
    ),
  );
  for (const [at, { response, count, price }] of answers.entries()) {
    const body = await response.bytes();
    expect([count, price, JSON.parse(new TextDecoder().decode(body))]).toEqual([
      at + 1,
      "10000",
      { count: at + 1, echo: `order ${at + 1}` },
    ]);
    bodies.push(body);
  }
  expect(await session.state()).toMatchObject({ used: "50000", left: "950000", calls: 5 });

  // Another process goes on with the journal, by its own word only, and opens nothing.
  const again = await client.session({ ...PLAN, signer, journal });
  expect(again.escrow).toBe(session.escrow);
  expect((await again.call(url, { limit: "0.01" })).count).toBe(6);

  const ended = await again.close();
  expect(ended).toMatchObject({
    escrow: session.escrow,
    outcome: "settled",
    closesAt: null,
    refusal: null,
    budget: "1000000",
    used: "60000",
    rest: "940000",
    calls: 6,
    // The agent paid for the opening alone: rest and rent came home with the seller's release.
    lamports: { fees: "5000", kept: "1559040", untilArchived: "2227200", aCall: "260674" },
  });
  expect(await again.close()).toEqual(ended);
  expect((await failureOf(again.call(url, { limit: "0.01" }))).code).toBe("session_closed");

  const verdictOf = (text: string) => verifyCall(text, fixture.policy);
  for (const [at, body] of bodies.entries()) {
    const { verdict, call, checks } = verdictOf(await again.evidence(at + 1, { body }));
    expect([verdict, call?.count, call?.settlement]).toEqual(["verified", at + 1, "paid"]);
    expect(checks.find(({ name }) => name === "call_payload")?.outcome).toBe("passed");
  }
  const hidden = await again.evidence(6, { isOrderShown: false });
  expect([hidden.includes("quotes"), verdictOf(hidden).call?.ordered]).toEqual([false, null]);
}, 120_000);

test("without nodes the packet shows that it is finalized; without a seller the wallet closes it", async () => {
  const client = connect(fixture.service.url, { trust: fixture.trust });
  const session = await client.session({ ...PLAN, signer, journal: memorySessionJournal() });
  const ended = await session.close();
  expect(ended).toMatchObject({
    outcome: "closing",
    used: "0",
    rest: "1000000",
    calls: 0,
    lamports: { fees: "10000", aCall: null },
  });
  expect(ended.refusal).toContain("No call was made");
  expect(Date.parse(ended.closesAt ?? "")).toBeGreaterThan(0);
  expect((await session.close()).closesAt).toBe(ended.closesAt);
}, 120_000);

test("payFetch opens one session, goes on with it in the next process, opens another one, and says what each cost", async () => {
  const kept = new Map<string, ReturnType<typeof memorySessionJournal>>();
  const seen: Array<string> = [];
  const paying = () =>
    payFetch(
      {
        service: fixture.service.url,
        trust: fixture.trust,
        rpc: fixture.rpc,
        signer,
        maxPrice: "0.01",
        budget: "0.05",
        allowRent: true,
        journal: (name) => {
          const journal = kept.get(name) ?? memorySessionJournal();
          kept.set(name, journal);
          return journal;
        },
      },
      (url, init) => {
        seen.push(new Headers(init.headers).has("settlement-voucher") ? "paid" : "asked");
        return fetch(url, init);
      },
    );
  const first = paying();
  // Calls at once share a session.
  const two = await Promise.all(
    ["a", "b"].map((body) => first(selling.url, { method: "POST", body })),
  );
  expect(await Promise.all(two.map((answer) => answer.json()))).toEqual([
    { count: 1, echo: "a" },
    { count: 2, echo: "b" },
  ]);
  const next = paying();
  for (let count = 3; count <= 7; count++)
    expect(await (await next(new Request(selling.url))).json()).toEqual({
      count: count <= 5 ? count : count - 5,
      echo: "",
    });
  // The price is asked once for each process and path.
  expect(seen.filter((each) => each === "asked").length).toBe(3);
  expect(kept.size).toBe(2);
  const ended = await next.close();
  expect(ended.map((each) => [each.failure, each.ended?.outcome, each.ended?.used])).toEqual([
    [null, "settled", "50000"],
    [null, "settled", "20000"],
  ]);
  expect(await next.close()).toEqual([]);
}, 120_000);

test("sessions in files are listed, proved and closed by the command", async () => {
  const folder = await temporaryDirectory();
  const at = async (name: string, text: string): Promise<string> => {
    const path = join(folder.path, name);
    await writeFile(path, text, { mode: 0o600 });
    return path;
  };
  const trust = await at("trust.json", fixture.trust);
  const key = await at("agent.json", keyText(agentKey.seed));
  const files = join(folder.path, "sessions");
  const there = ["--service", fixture.service.url, "--trust", trust];
  const run = (...args: ReadonlyArray<string>) => runHere((io) => main(["sessions", ...args], io));
  const linesOf = ({ stdout }: { readonly stdout: string }) =>
    stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const journal = await fileSession(join(files, "one"));
  const client = connect(fixture.service.url, { trust: fixture.trust, rpc: fixture.rpc });
  const session = await client.session({ ...PLAN, signer, journal });
  await session.call(selling.url, { limit: "0.01" });
  expect(linesOf(await run("list", files))).toMatchObject([
    { file: "one", failure: "store_in_use" },
  ]);
  await journal.release();
  expect(linesOf(await run("list", files))).toEqual([
    {
      file: "one",
      opened: true,
      escrow: session.escrow,
      merchant: merchantKey.address,
      budget: "1000000",
      used: "10000",
      left: "990000",
      calls: 1,
      closed: false,
      stopped: null,
    },
  ]);
  const proved = await run("evidence", join(files, "one"), "1", ...there);
  expect([proved.code, verifyCall(proved.stdout, fixture.policy).call?.settlement]).toEqual([
    0,
    "attested",
  ]);
  expect((await run("evidence", join(files, "one"), "2", ...there)).code).toBe(1);
  const closed = await run("close", files, ...there, "--key", key);
  expect([closed.code, closed.stderr]).toEqual([0, ""]);
  expect(linesOf(closed)).toMatchObject([{ file: "one", outcome: "settled", used: "10000" }]);
  expect((await run("close", files, ...there)).code).toBe(64);
  expect((await run("open", files)).code).toBe(64);
  expect((await run("evidence", join(files, "one"), "0", ...there)).code).toBe(64);
  expect((await run("list", join(folder.path, "none"))).code).toBe(66);
  await folder.remove();
}, 120_000);
