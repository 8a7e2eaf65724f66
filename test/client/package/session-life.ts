import { expect } from "bun:test";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { AGREES, modernClient } from "../mcp/mcp-clients.ts";
import { signed } from "../mcp/mcp-service.ts";
import { agentKey, sellerFixture, sellingAt } from "../sessions/seller-fixture.ts";
import type { Installed } from "./installed.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const PROTOCOL = "node_modules/@modelcontextprotocol";
const BIN = "node_modules/settlement-evidence/client/bin/settlement-evidence.js";

/** A service and a seller, and a model's session with it in a runtime, out of the installed package. */
export const sessionWorld = async (installed: Installed) => {
  const { folder } = installed;
  await symlink(join(ROOT, PROTOCOL), join(folder, PROTOCOL)).catch((cause: unknown) => {
    if ((cause as { code?: string }).code !== "EEXIST") throw cause;
  });
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
  return {
    live,
    stop: async () => {
      await selling.stop();
      await fixture.stop();
    },
  };
};
