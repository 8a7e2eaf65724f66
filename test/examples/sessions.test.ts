import { expect, test } from "bun:test";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryDirectory } from "../app/support/running-service.ts";
import {
  agentKey,
  attestorKey,
  merchantKey,
  sellerFixture,
} from "../client/sessions/seller-fixture.ts";
import { boughtByExample, exampleEnvironment } from "./bought-by-example.ts";

/** The pairs, and what the buyer's calls come to. */
const PAIRS = [
  { pair: "session", used: "1000000", aCall: "15641" },
  { pair: "x402-session", used: "100000", aCall: "156404" },
] as const;
/** Beside imports, comments and empty lines. */
const MAX_LINES = 15;
const EXAMPLES = fileURLToPath(new URL("../../examples", import.meta.url));
const example = (name: string): string => join(EXAMPLES, `${name}.ts`);

test("the pairs have at most 15 lines each beside their imports", async () => {
  for (const { pair } of PAIRS)
    for (const side of ["seller", "buyer"]) {
      const lines = (await Bun.file(example(`${pair}-${side}`)).text()).split("\n");
      const own = lines.filter((line) => line !== "" && !/^(?:\/\/|import )/.test(line));
      expect([pair, own.length <= MAX_LINES ? "short" : own.length]).toEqual([pair, "short"]);
    }
});

test.each(PAIRS)(
  "$pair: the buyer makes its calls out of one session, and prints what it cost",
  async ({ pair, used, aCall }) => {
    const [fixture, folder] = await Promise.all([sellerFixture(), temporaryDirectory()]);
    try {
      const { service, rpc, trust } = fixture;
      const seeds = { agent: agentKey.seed, attestor: attestorKey.seed, wallet: merchantKey.seed };
      const env = await exampleEnvironment(
        folder.path,
        { service: service.url, rpc, trust },
        seeds,
      );
      const place = { examples: EXAMPLES, pair, cwd: folder.path };
      const { code, printed } = await boughtByExample([process.execPath], place, env);
      expect(code).toBe(0);
      expect(printed).toStartWith('{"symbol":"SOL","price":"1.50"}\n');
      expect(printed).toContain('outcome: "settled"');
      expect(printed).toContain(`used: "${used}"`);
      expect(printed).toContain(`aCall: "${aCall}"`);
    } finally {
      await Promise.all([fixture.stop(), folder.remove()]);
    }
  },
  240_000,
);
