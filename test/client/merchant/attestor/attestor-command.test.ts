import { afterAll, beforeAll, expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { localKey } from "../../../../adapters/local-ledger/genesis/local-keys.ts";
import { merchantFixture } from "../merchant-fixture.ts";
import { exchangeOf, RULES } from "./rules-fixture.ts";

const COMMAND = fileURLToPath(new URL("../../../../app/commands/attestor.ts", import.meta.url));
const wallet = localKey("merchant/forecast");
const TASK = "GET https://api.example.com/v1/forecast?city=Bern";

let merchant: Awaited<ReturnType<typeof merchantFixture>>;
beforeAll(async () => {
  merchant = await merchantFixture();
});
afterAll(() => merchant.stop());

const attestor = async (lines: ReadonlyArray<object | string>, ...more: ReadonlyArray<string>) => {
  const rules = await merchant.file("rules.json", JSON.stringify(RULES));
  const key = await merchant.keyFile(localKey("attestor/forecast"));
  const payer = await merchant.keyFile(localKey("agent/trader"));
  const text = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line)));
  const child = Bun.spawn(
    [
      process.execPath,
      COMMAND,
      ...merchant.there,
      "--rules",
      rules,
      "--key",
      key,
      "--release",
      "--payer-key",
      payer,
      ...more,
    ],
    {
      cwd: merchant.directory.path,
      env: { PATH: process.env["PATH"] ?? "", XDG_STATE_HOME: merchant.directory.path },
      stdin: new Blob([text.join("\n")]),
      stdout: "pipe",
      stderr: "pipe",
    },
  );
  const [code, stdout, stderr] = await Promise.all([
    child.exited,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  const decisions = stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { code, decisions, stderr };
};

test("what the rules allow is signed and released, the rest refused with reasons, under the ceiling", async () => {
  const paid = [await merchant.pay(wallet, TASK), await merchant.pay(wallet, TASK)];
  const third = await merchant.pay(wallet, TASK);
  const exchanges = [...paid, third].map(({ escrow, nonce }) => exchangeOf(escrow, nonce));
  const [first, second, beyond] = exchanges;
  const late = { ...second, latency_ms: 9000 };
  const { code, decisions, stderr } = await attestor([
    "{",
    late,
    ...exchanges.slice(0, 2),
    beyond ?? {},
    first ?? {},
    { ...first, response: { status: 200, body_base64: btoa('{"celsius":8}') } },
  ]);
  expect([code, stderr]).toEqual([0, ""]);
  expect(decisions).toMatchObject([
    { escrow: null, decision: "refused", reasons: [expect.stringContaining("no JSON")] },
    { decision: "refused", reasons: [expect.stringContaining("9000 ms")] },
    { decision: "signed", rule: "forecast", released: { released: "1000000" } },
    { decision: "signed", rule: "forecast", released: { released: "1000000" } },
    { decision: "refused", reasons: [expect.stringContaining("within a day")] },
    {
      decision: "signed",
      rule: "forecast",
      attestation: null,
      released: { released: "1000000", signature: null },
    },
    { decision: "refused", reasons: [expect.stringContaining("Fulfilled already")] },
  ]);
  expect(await merchant.stateOf(third.escrow)).toBe("Pending");
  expect(await merchant.stateOf(paid[0]?.escrow ?? "")).toBe("Fulfilled");
});

test("wrong rules and a missing option are one line and sign nothing", async () => {
  const rules = await merchant.file("wrong.json", "{}");
  const wrong = await attestor([], "--rules", rules);
  expect([wrong.code, wrong.decisions]).toEqual([64, []]);
  expect(wrong.stderr).toContain("The rules are malformed");
  expect(wrong.stderr.trimEnd()).not.toContain("\n");
  const key = await attestor([], "--key", "nowhere.json");
  expect([key.code, key.stderr.trimEnd().split("\n").length]).toEqual([66, 1]);
});
