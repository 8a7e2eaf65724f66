import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { keyText } from "../../client/node/key-file.ts";

/** Who is who in a pair of examples: 32-byte seeds. */
type Seeds = Readonly<Record<"agent" | "attestor" | "wallet", Uint8Array>>;

/** What examples/x402-buyer.ts prints: the answer, and where its evidence is. */
export const X402_PRINTED =
  /^200 \{"symbol":"SOL","price":"1.50"\}\nhttp:\/\/127\.0\.0\.1:\d+\/v1\/evidence\/\w+ [0-9a-f]{64}\n$/;

/** The variables of a pair of examples. Its key files and its trust document are written into `folder`. */
export const exampleEnvironment = async (
  folder: string,
  {
    service,
    rpc,
    trust,
  }: { readonly service: string; readonly rpc: string; readonly trust: string },
  { agent, attestor, wallet }: Seeds,
): Promise<Readonly<Record<string, string>>> => {
  const file = async (name: string, text: string): Promise<string> => {
    const path = join(folder, name);
    await Bun.write(path, text);
    await chmod(path, 0o600);
    return path;
  };
  return {
    SERVICE: service,
    RPC: rpc,
    TRUST_FILE: await file("trust.json", trust),
    AGENT_KEY: await file("agent.json", keyText(agent)),
    ATTESTOR_KEY: await file("attestor.json", keyText(attestor)),
    WALLET_KEY: await file("wallet.json", keyText(wallet)),
  };
};

/** The first line that a process prints. */
const firstLineOf = async (stream: ReadableStream<Uint8Array>): Promise<string> => {
  let text = "";
  for await (const part of stream) {
    text += new TextDecoder().decode(part);
    if (text.includes("\n")) break;
  }
  return text.split("\n", 1)[0] ?? "";
};

/** Starts the seller of a pair in `examples` by a runtime, runs its buyer in `cwd`, and gives what that printed. */
export const boughtByExample = async (
  runtime: ReadonlyArray<string>,
  {
    examples,
    pair,
    cwd,
  }: { readonly examples: string; readonly pair: string; readonly cwd: string },
  env: Readonly<Record<string, string>>,
): Promise<{ readonly code: number; readonly printed: string }> => {
  const start = (side: string, more: Readonly<Record<string, string>> = {}) =>
    Bun.spawn([...runtime, join(examples, `${pair}-${side}.ts`)], {
      cwd,
      env: { ...process.env, NO_COLOR: "1", ...env, ...more },
      stdout: "pipe",
      stderr: "inherit",
    });
  const seller = start("seller");
  try {
    const url = `${await firstLineOf(seller.stdout)}/quotes?symbol=SOL`;
    const buyer = start("buyer", { URL: url });
    const printed = await new Response(buyer.stdout).text();
    return { code: await buyer.exited, printed };
  } finally {
    seller.kill();
    await seller.exited;
  }
};
