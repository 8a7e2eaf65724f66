import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { BuyerOptions } from "../../client/x402.ts";
import { temporaryDirectory } from "../app/support/running-service.ts";
import { x402Fixture } from "../client/x402/x402-fixture.ts";
import { type Purchase, purchase } from "./purchase.ts";

/** The command of the package; test/hostile-facilitator/requirements.txt has its version and hash. */
const { HOSTILE_FACILITATOR_VENV: venv } = process.env;
const command =
  venv === undefined ? Bun.which("hostile-facilitator") : join(venv, "bin/hostile-facilitator");

/** The modes that break the read of what became of a payment. */
const READ_MODES = [
  "reconcile_unavailable",
  "reconcile_soft_404",
  "reconcile_oversized",
  "reconcile_truncated",
] as const;
/** Every mode of the battery; it tries the control first. */
const MODES = [
  "clean",
  "accept_then_timeout",
  "5xx_after_settle",
  "double_402",
  "slow_answer",
  ...READ_MODES,
  "declared_safe",
] as const;

/** What the battery writes of a mode. */
type Row = {
  readonly mode: string;
  readonly distinct: number;
  readonly reconcile_calls: number;
  readonly verdict: string;
};
type Scored = { readonly summary: Record<string, unknown>; readonly results: ReadonlyArray<Row> };

let x402: Awaited<ReturnType<typeof x402Fixture>>;
let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeAll(async () => {
  x402 = await x402Fixture();
  directory = await temporaryDirectory();
}, 60_000);
afterAll(async () => {
  await directory.remove();
  await x402.stop();
}, 60_000);

/** The battery's scores of a buyer, and what each of its purchases came to, by mode. */
const battery = async (name: string, options: Partial<BuyerOptions> = {}) => {
  if (command === null)
    throw new Error(
      "hostile-facilitator is not installed. python3 -m venv ~/.hostile && ~/.hostile/bin/pip install --require-hashes -r test/hostile-facilitator/requirements.txt; then set HOSTILE_FACILITATOR_VENV=~/.hostile",
    );
  const purchases: Array<Purchase> = [];
  // The battery runs a command for each purchase; this one has it made here.
  const made = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 60,
    fetch: async (request) => {
      const { hostile, seconds } = (await request.json()) as { hostile: string; seconds: string };
      purchases.push(await purchase(x402, hostile, Number(seconds) * 1000, options));
      return new Response();
    },
  });
  const ask = `await fetch(process.env.PURCHASES, { method: "POST", body: JSON.stringify({
    hostile: process.env.FACILITATOR_URL, seconds: process.env.HOSTILE_CLIENT_TIMEOUT }) })`;
  const out = join(directory.path, `${name}.json`);
  const child = Bun.spawn(
    [command, "test", "--client-timeout", "2", "--json", out, "--", process.execPath, "-e", ask],
    { env: { ...process.env, PURCHASES: made.url.href }, stdout: "pipe", stderr: "pipe" },
  );
  try {
    const [shown, exit] = [await new Response(child.stdout).text(), await child.exited];
    const scored = (await Bun.file(out).json()) as Scored;
    const byMode = new Map(MODES.map((mode, i) => [mode, purchases[i]]));
    return {
      shown,
      exit,
      scored,
      byMode,
      row: (mode: string) => scored.results.find((row) => row.mode === mode),
    };
  } finally {
    child.kill();
    await made.stop(true);
  }
};

describe("the default buyer, and the seller", () => {
  let run: Awaited<ReturnType<typeof battery>>;
  let control: typeof run;
  beforeAll(async () => {
    const nonce = () => crypto.randomUUID();
    [run, control] = await Promise.all([battery("default"), battery("control", { nonce })]);
    process.stdout.write(run.shown);
  }, 120_000);

  test("are beside a buyer that makes a payment of each call, which the battery catches", () => {
    const { double_paying_modes: doubled } = control.scored.summary;
    expect(doubled).toEqual(expect.arrayContaining(["double_402", ...READ_MODES]));
    expect([control.exit, control.byMode.get("double_402")?.escrows]).toEqual([1, 3]);
  });

  test("are scored 10 of 10, every read of a payment's fate exercised", () => {
    expect(run.scored.summary).toMatchObject({ safe: 10, total: 10, verdict: "PASS" });
    expect(run.exit).toBe(0);
    expect(run.scored.results.map(({ mode }) => mode).toSorted()).toEqual([...MODES].toSorted());
  });

  for (const mode of MODES)
    test(`${mode}: one escrow for one request`, () => {
      expect(run.row(mode)?.distinct).toBe(1);
      expect(run.byMode.get(mode)).toMatchObject({ escrows: 1 });
    });

  for (const mode of READ_MODES)
    test(`${mode}: an unreadable answer pays nothing, and the payment is presented once it can be read`, () => {
      expect(run.row(mode)?.reconcile_calls).toBeGreaterThan(0);
      expect(run.byMode.get(mode)?.reads).toBeGreaterThan(0);
      expect(run.byMode.get(mode)).toMatchObject({ status: 0, later: { status: 200, escrows: 1 } });
    });

  for (const mode of [
    "accept_then_timeout",
    "5xx_after_settle",
    "double_402",
    "slow_answer",
  ] as const)
    test(`${mode}: the buyer has what it paid for`, () => {
      expect(run.byMode.get(mode)).toMatchObject({ status: 200 });
    });
});
