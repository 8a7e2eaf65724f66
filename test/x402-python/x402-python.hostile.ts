import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { LOCAL_USDC_MINT } from "../../adapters/local-ledger/genesis/local-keys.ts";
import { keySigner } from "../../client/node/key-file.ts";
import { memorySessions, sessionSeller } from "../../client/sessions.ts";
import { sessionScheme } from "../../client/x402.ts";
import { x402ResourceServer } from "@x402/core/server";
import { temporaryDirectory } from "../app/support/running-service.ts";
import { delivered, SELLERS } from "../client/x402/sellers.ts";
import { AGENT, ATTESTOR, WALLET, x402Fixture } from "../client/x402/x402-fixture.ts";

/** The Python that has x402 of PyPI; ../hostile-facilitator/requirements.txt has its versions and hashes. */
const { HOSTILE_FACILITATOR_VENV: venv } = process.env;
const python = venv === undefined ? "python3" : join(venv, "bin/python");
const has = Bun.spawnSync([python, "-c", "import requests, solders, x402"], { stderr: "ignore" });
const missing = has.success ? "" : ", which needs x402, requests and solders: SKIPPED";

let x402: Awaited<ReturnType<typeof x402Fixture>>;
let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let rpc = "";
beforeAll(async () => {
  [x402, directory] = await Promise.all([x402Fixture(), temporaryDirectory()]);
  await Bun.write(join(directory.path, "trust.json"), x402.trust);
  const status = await fetch(`${x402.service.url}/v1/status`);
  const { data } = (await status.json()) as {
    readonly data: { readonly network: { readonly rpc_address: string } };
  };
  rpc = data.network.rpc_address;
}, 60_000);
afterAll(async () => {
  await directory.remove();
  await x402.stop();
}, 60_000);

/** Runs a program beside this file. */
const ran = async (
  name: string,
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>,
) => {
  const child = Bun.spawn([python, "-B", join(import.meta.dir, name), ...args], {
    env: {
      ...process.env,
      SERVICE_URL: x402.service.url,
      RPC_URL: rpc,
      TRUST_FILE: join(directory.path, "trust.json"),
      AGENT_KEY: Buffer.from(AGENT.seed).toString("hex"),
      MINT: LOCAL_USDC_MINT,
      PRICE_UNITS: "10000",
      ...env,
    },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, complaint, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { lines: out.split("\n").slice(0, -1), complaint, code };
};

const sold = async (price: string) => {
  const seller = await SELLERS["hono"]?.(
    { "GET /quotes": { accepts: x402.offer(price) } },
    x402.resources({ wallet: keySigner(WALLET.seed) }),
  );
  if (seller === undefined) throw new Error("no seller");
  return seller;
};

type Told = {
  readonly status: number;
  readonly text: string;
  readonly created: boolean;
  readonly told: {
    readonly success: boolean;
    readonly extra: { readonly escrow: string; readonly state: string };
  };
};

test.skipIf(missing !== "")(
  `PyPI's x402 pays an auth-capture offer, and is given the same answer again for the same payment${missing}`,
  async () => {
    const seller = await sold("$0.01");
    const { lines, complaint, code } = await ran("x402_payment.py", [`${seller.url}/quotes`], {});
    expect([code, complaint]).toEqual([0, ""]);
    const [first, again] = lines.map((line) => JSON.parse(line) as Told);
    expect(first).toMatchObject({
      status: 200,
      text: '{"price":"1.50"}',
      created: true,
      told: { success: true, extra: { state: "Fulfilled" } },
    });
    expect(again).toMatchObject({ status: 200, text: '{"price":"1.50"}', created: false });
    expect(again?.told.extra.escrow).toBe(first?.told.extra.escrow ?? "");
    expect(delivered.get(seller.url)).toBe(1);
    expect(await x402.escrow(first?.told.extra.escrow ?? "")).toMatchObject({
      state: "Fulfilled",
      released_stroops: "10000",
      agent_owner: AGENT.address,
    });
    await seller.stop();
  },
  120_000,
);

test.skipIf(missing !== "")(
  `PyPI's x402 signs nothing above its own limit, or for another custody program${missing}`,
  async () => {
    const seller = await sold("$0.02");
    const dear = await ran("x402_payment.py", [`${seller.url}/quotes`], {});
    expect([dear.code, dear.lines]).toEqual([1, []]);
    expect(dear.complaint).toContain("max_amount_per_payment");
    const trust = join(directory.path, "other.json");
    const other = { ...(JSON.parse(x402.trust) as object), custody_program: WALLET.address };
    await Bun.write(trust, JSON.stringify(other));
    const env = { TRUST_FILE: trust, PRICE_UNITS: "20000" };
    const strange = await ran("x402_payment.py", [`${seller.url}/quotes`], env);
    expect([strange.code, strange.lines]).toEqual([1, []]);
    expect(strange.complaint).toContain("another_custody");
    expect(delivered.get(seller.url)).toBeUndefined();
    await seller.stop();
  },
  120_000,
);

test.skipIf(missing !== "")(
  `PyPI's x402 buys calls out of one session, and closes it with its seller${missing}`,
  async () => {
    const selling = sessionSeller({
      service: x402.service.url,
      trust: x402.trust,
      rpc,
      merchant: WALLET.address,
      attestor: keySigner(ATTESTOR.seed),
      payer: keySigner(WALLET.seed),
      store: memorySessions(),
    });
    const accepts = { ...x402.offer(), scheme: "delivery-session" };
    const routes = { "GET /quotes": { accepts } };
    const resources = new x402ResourceServer(x402.facilitator);
    resources.register(x402.network, sessionScheme(selling));
    const seller = await SELLERS["hono"]?.(routes, resources);
    if (seller === undefined) throw new Error("no seller");
    const journal = join(directory.path, "session");
    await mkdir(journal);
    const plan = { BUDGET: "1.00", TTL: "3600", CALLS: "3", CLOSE: "1", JOURNAL: journal };
    // The buyer appends the path of each call.
    const env = { MERCHANT: WALLET.address, SELLER_URL: `${seller.url}/quotes?of=`, ...plan };
    const { lines, complaint, code } = await ran("x402_session.py", [], env);
    expect([code, complaint]).toEqual([0, ""]);
    const words = lines.map((line) => line.split(" ").slice(0, 3).join(" "));
    expect(words.slice(1)).toEqual([
      "called 1 10000",
      "called 2 10000",
      "called 3 10000",
      "ended settled 30000",
    ]);
    await seller.stop();
    await selling.close();
  },
  180_000,
);
