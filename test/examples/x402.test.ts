import { expect, test } from "bun:test";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { keyText } from "../../client/node/key-file.ts";
import { AGENT, ATTESTOR, WALLET, x402Fixture } from "../client/x402/x402-fixture.ts";
import { temporaryDirectory } from "../app/support/running-service.ts";

const MAX_LINES = 30;
const example = (name: string): string =>
  fileURLToPath(new URL(`../../examples/${name}.ts`, import.meta.url));

test("the pair has at most 30 lines each", async () => {
  for (const name of ["x402-seller", "x402-buyer"]) {
    const lines = (await Bun.file(example(name)).text()).trimEnd().split("\n");
    expect(lines.length).toBeLessThanOrEqual(MAX_LINES);
  }
});

test("the seller delivers, and the buyer prints the answer and its evidence", async () => {
  const [x402, folder] = await Promise.all([x402Fixture(), temporaryDirectory()]);
  const file = async (name: string, text: string): Promise<string> => {
    const path = join(folder.path, name);
    await Bun.write(path, text);
    await chmod(path, 0o600);
    return path;
  };
  const env = {
    ...process.env,
    SERVICE: x402.service.url,
    TRUST_FILE: await file("trust.json", x402.trust),
    AGENT_KEY: await file("agent.json", keyText(AGENT.seed)),
    ATTESTOR_KEY: await file("attestor.json", keyText(ATTESTOR.seed)),
    WALLET_KEY: await file("wallet.json", keyText(WALLET.seed)),
  };
  const start = (name: string, more: Readonly<Record<string, string>> = {}) =>
    Bun.spawn([process.execPath, example(name)], {
      env: { ...env, ...more },
      stdout: "pipe",
      stderr: "inherit",
    });
  const seller = start("x402-seller");
  try {
    const first = await firstLineOf(seller.stdout);
    const buyer = start("x402-buyer", { URL: `${first}/quotes?symbol=SOL` });
    const printed = await new Response(buyer.stdout).text();
    expect(await buyer.exited).toBe(0);
    expect(printed).toMatch(
      /^200 \{"symbol":"SOL","price":"1.50"\}\nhttp:\/\/127\.0\.0\.1:\d+\/v1\/evidence\/\w+ [0-9a-f]{64}\n$/,
    );
  } finally {
    seller.kill();
    await seller.exited;
    await Promise.all([x402.stop(), folder.remove()]);
  }
}, 60_000);

/** The first line that a process prints. */
const firstLineOf = async (stream: ReadableStream<Uint8Array>): Promise<string> => {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let text = "";
  while (!text.includes("\n")) {
    const { done, value } = await reader.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
  }
  return text.split("\n", 1)[0] ?? "";
};
