import { expect, test } from "bun:test";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { AGENT, ATTESTOR, WALLET, x402Fixture } from "../client/x402/x402-fixture.ts";
import { temporaryDirectory } from "../app/support/running-service.ts";
import { boughtByExample, exampleEnvironment, X402_PRINTED } from "./bought-by-example.ts";

const MAX_LINES = 30;
const EXAMPLES = fileURLToPath(new URL("../../examples", import.meta.url));
const example = (name: string): string => join(EXAMPLES, `${name}.ts`);

test("the pair has at most 30 lines each", async () => {
  for (const name of ["x402-seller", "x402-buyer"]) {
    const lines = (await Bun.file(example(name)).text()).trimEnd().split("\n");
    expect(lines.length).toBeLessThanOrEqual(MAX_LINES);
  }
});

test("the seller delivers, and the buyer prints the answer and its evidence", async () => {
  const [x402, folder] = await Promise.all([x402Fixture(), temporaryDirectory()]);
  try {
    const world = { service: x402.service.url, rpc: "", trust: x402.trust };
    const seeds = { agent: AGENT.seed, attestor: ATTESTOR.seed, wallet: WALLET.seed };
    const env = await exampleEnvironment(folder.path, world, seeds);
    const pair = { examples: EXAMPLES, pair: "x402", cwd: folder.path };
    const { code, printed } = await boughtByExample([process.execPath], pair, env);
    expect(code).toBe(0);
    expect(printed).toMatch(X402_PRINTED);
  } finally {
    await Promise.all([x402.stop(), folder.remove()]);
  }
}, 120_000);
