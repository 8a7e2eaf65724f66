import { expect } from "bun:test";
import { copyFile, mkdir, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { AGREES, modernClient } from "../mcp/mcp-clients.ts";
import { signed } from "../mcp/mcp-service.ts";
import {
  agentKey,
  attestorKey,
  merchantKey,
  sellerFixture,
  sellingAt,
} from "../sessions/seller-fixture.ts";
import {
  boughtByExample,
  exampleEnvironment,
  X402_PRINTED,
} from "../../examples/bought-by-example.ts";
import type { Installed } from "./installed.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
/** What the package is used with, and examples of it are. */
const BESIDE = [
  "@modelcontextprotocol",
  "@x402/core",
  "@x402/fetch",
  "@x402/hono",
  "@hono/node-server",
  "hono",
];
const BIN = "node_modules/settlement-evidence/client/bin/settlement-evidence.js";

/** A service and a seller, and a model's session with it in a runtime, out of the installed package. */
export const sessionWorld = async (installed: Installed) => {
  const { folder } = installed;
  for (const name of BESIDE) {
    const place = join(folder, "node_modules", name);
    await mkdir(dirname(place), { recursive: true });
    await symlink(join(ROOT, "node_modules", name), place).catch((cause: unknown) => {
      if ((cause as { code?: string }).code !== "EEXIST") throw cause;
    });
  }
  const fixture = await sellerFixture();
  await Bun.write(join(folder, "local-trust.json"), fixture.trust);
  const selling = sellingAt(fixture, (_, { count }) => Response.json({ count }));

  /** Opens a session, calls twice, closes it and proves a call. */
  const live = async ([command = "", ...args]: ReadonlyArray<string>, name: string) => {
    const place = {
      command,
      args: [
        ...args,
        join(folder, BIN),
        "mcp",
        "--service",
        fixture.service.url,
        "--trust",
        join(folder, "local-trust.json"),
        "--sessions",
        join(folder, `sessions-${name}`),
        "--rpc",
        fixture.rpc,
      ],
    };
    const client = await modernClient(place, AGREES);
    const done = async (tool: string, given: Readonly<Record<string, unknown>>) => {
      const { isError, text, structured } = await client.call(tool, given);
      expect([name, tool, isError, text]).toEqual([name, tool, false, text]);
      return structured;
    };
    try {
      const plan = {
        agent: agentKey.address,
        url: selling.url,
        budget: "1000000",
        ttl_seconds: 3600,
      };
      const { session, transaction, signers } = await done("open_session", plan);
      const whole = signed(transaction as string, signers as ReadonlyArray<string>);
      await done("relay_transaction", { signed_transaction: whole });
      const call = { session, url: selling.url, limit: "10000" };
      for (const count of [1, 2])
        expect(await done("paid_fetch", call)).toMatchObject({ count, body: `{"count":${count}}` });
      // The seller has settled, and the rent came home with it: the wallet signs nothing.
      expect(await done("close_session", { session })).toMatchObject({
        outcome: "settled",
        used: "20000",
      });
      expect(await done("read_call_evidence", { session, count: 2 })).toMatchObject({
        verdict: "verified",
        settlement: "paid",
      });
    } finally {
      await client.close();
    }
  };
  /** Has the examples sell and buy in a runtime: by x402 one payment and ten calls of a session, and 100 without it. */
  const trade = async (runtime: ReadonlyArray<string>, name: string) => {
    const cwd = join(folder, `examples-${name}`);
    for (const pair of ["x402", "x402-session", "session"])
      for (const side of ["seller", "buyer"]) {
        const file = `${pair}-${side}.ts`;
        await mkdir(cwd, { recursive: true });
        await copyFile(join(ROOT, "examples", file), join(cwd, file));
      }
    const { service, rpc, trust } = fixture;
    const seeds = { agent: agentKey.seed, attestor: attestorKey.seed, wallet: merchantKey.seed };
    const env = await exampleEnvironment(cwd, { service: service.url, rpc, trust }, seeds);
    const single = await boughtByExample(runtime, { examples: cwd, pair: "x402", cwd }, env);
    expect([name, single.code, single.printed]).toEqual([
      name,
      0,
      expect.stringMatching(X402_PRINTED),
    ]);
    const pairs: Record<string, string> = { "x402-session": "100000" };
    // In Bun test/examples runs it.
    if (name !== "bun") pairs["session"] = "1000000";
    for (const [pair, used] of Object.entries(pairs)) {
      const calls = await boughtByExample(runtime, { examples: cwd, pair, cwd }, env);
      expect([name, pair, calls.code]).toEqual([name, pair, 0]);
      expect(calls.printed).toStartWith('{"symbol":"SOL","price":"1.50"}\n');
      expect(calls.printed).toMatch(/outcome: ["']settled["']/);
      expect(calls.printed).toMatch(new RegExp(`used: ["']${used}["']`));
    }
  };
  return {
    live,
    trade,
    stop: async () => {
      await selling.stop();
      await fixture.stop();
    },
  };
};
