import { expect, test } from "bun:test";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { keyText } from "../../client/node/key-file.ts";
import { temporaryDirectory } from "../app/support/running-service.ts";
import {
  agentKey,
  attestorKey,
  merchantKey,
  sellerFixture,
} from "../client/sessions/seller-fixture.ts";

/** The pairs, and what the buyer's calls come to. */
const PAIRS = [
  { pair: "session", used: "1000000", aCall: "15691" },
  { pair: "x402-session", used: "100000", aCall: "156404" },
] as const;
/** Beside imports, comments and empty lines. */
const MAX_LINES = 15;
const example = (name: string): string =>
  fileURLToPath(new URL(`../../examples/${name}.ts`, import.meta.url));

test("the pairs have at most 15 lines each beside their imports", async () => {
  for (const { pair } of PAIRS)
    for (const side of ["seller", "buyer"]) {
      const lines = (await Bun.file(example(`${pair}-${side}`)).text()).split("\n");
      const own = lines.filter((line) => line !== "" && !/^(?:\/\/|import )/.test(line));
      expect([pair, own.length <= MAX_LINES ? "short" : own.length]).toEqual([pair, "short"]);
    }
});

/** The first line that a process prints. */
const firstLineOf = async (stream: ReadableStream<Uint8Array>): Promise<string> => {
  let text = "";
  for await (const part of stream) {
    text += new TextDecoder().decode(part);
    if (text.includes("\n")) break;
  }
  return text.split("\n", 1)[0] ?? "";
};

test.each(PAIRS)(
  "$pair: the buyer makes its calls out of one session, and prints what it cost",
  async ({ pair, used, aCall }) => {
    const [fixture, folder] = await Promise.all([sellerFixture(), temporaryDirectory()]);
    const file = async (name: string, text: string): Promise<string> => {
      const path = join(folder.path, name);
      await Bun.write(path, text);
      await chmod(path, 0o600);
      return path;
    };
    const env = {
      ...process.env,
      SERVICE: fixture.service.url,
      RPC: fixture.rpc,
      TRUST_FILE: await file("trust.json", fixture.trust),
      AGENT_KEY: await file("agent.json", keyText(agentKey.seed)),
      ATTESTOR_KEY: await file("attestor.json", keyText(attestorKey.seed)),
      WALLET_KEY: await file("wallet.json", keyText(merchantKey.seed)),
    };
    const start = (name: string, more: Readonly<Record<string, string>> = {}) =>
      Bun.spawn([process.execPath, example(name)], {
        cwd: folder.path,
        env: { ...env, ...more },
        stdout: "pipe",
        stderr: "inherit",
      });
    const seller = start(`${pair}-seller`);
    try {
      const buyer = start(`${pair}-buyer`, {
        URL: `${await firstLineOf(seller.stdout)}/quotes?symbol=SOL`,
      });
      const printed = await new Response(buyer.stdout).text();
      expect(await buyer.exited).toBe(0);
      expect(printed).toStartWith('{"symbol":"SOL","price":"1.50"}\n');
      expect(printed).toContain('outcome: "settled"');
      expect(printed).toContain(`used: "${used}"`);
      expect(printed).toContain(`aCall: "${aCall}"`);
    } finally {
      seller.kill();
      await seller.exited;
      await Promise.all([fixture.stop(), folder.remove()]);
    }
  },
  240_000,
);
