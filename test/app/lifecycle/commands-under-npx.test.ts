import { afterAll, beforeAll, expect, test } from "bun:test";
import { open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { printVerifierKey } from "../../../core/log/notes/verifier-key.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import packageJson from "../../../package.json" with { type: "json" };
import { testKey } from "../../core/log/support/test-signer.ts";
import { keyText } from "../../../client/node/key-file.ts";
import { RULES } from "../../client/merchant/attestor/rules-fixture.ts";
import { temporaryDirectory } from "../support/running-service.ts";

const ROOT = `${import.meta.dir}/../../..`;

/**
 * The processes of npx: one of that name, a shell that forwards no signal, then the command, with `stdin` as its
 * standard input.
 */
const underNpx = (
  command: string,
  {
    env = {},
    stdin = "ignore",
  }: { readonly env?: Readonly<Record<string, string>>; readonly stdin?: number | "ignore" } = {},
) =>
  Bun.spawn(
    ["bash", "-c", 'exec -a "npm exec bun" bash -c "$0"', `sh -c '${command}; true' <&0 & wait`],
    {
      cwd: ROOT,
      env: { PATH: process.env["PATH"] ?? "", ...env },
      stdin,
      stdout: "pipe",
      stderr: "pipe",
    },
  );

/**
 * Ends npx by SIGTERM as soon as its command has said `ready`, and resolves with all that the command said. Standard
 * output ends when the last process that holds it has ended: the command. @throws Error when the command ends before it
 * is ready.
 */
const endNpxAt = async (npx: ReturnType<typeof underNpx>, ready: string): Promise<string> => {
  const lines = npx.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let said = "";
  for (let part = await lines.read(); !part.done; part = await lines.read()) {
    said += part.value;
    if (said.includes(ready)) npx.kill("SIGTERM");
  }
  if (said.includes(ready)) return said;
  throw new Error(`it said: ${said}${await new Response(npx.stderr).text()}`);
};

/** What `bun run cli` runs, by the test's own Bun. */
const command = (name: string): string =>
  `${packageJson.scripts.cli.replace(/^bun /, `"${process.execPath}" `)} ${name}`;

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeAll(async () => {
  directory = await temporaryDirectory();
});
afterAll(() => directory.remove());

const file = async (name: string, text: string): Promise<string> => {
  const path = join(directory.path, name);
  await writeFile(path, text, { mode: 0o600 });
  return path;
};

/** A standard input with one line, which stays open: the end of the input is not what ends the command. */
const openInput = async (name: string, line: string) => {
  const path = join(directory.path, name);
  expect(await Bun.spawn(["mkfifo", path]).exited).toBe(0);
  const input = await open(path, "r+");
  await input.write(line);
  return input;
};

const linuxTest = test.concurrent.if(process.platform === "linux");

linuxTest(
  "ending npx does not leave the local ledger behind",
  async () => {
    const ledger = `${command("local-ledger")} --no-demo --port 0 --data-dir "${directory.path}"`;
    await endNpxAt(underNpx(ledger), '"ready":true');
  },
  60_000,
);

linuxTest(
  "nor a witness, whose lines are those of a service",
  async () => {
    const log = testKey("example.com/log/0123456789abcdef/0", "ed25519", 1).key;
    const said = await endNpxAt(
      underNpx(command("witness"), {
        env: {
          // The witness follows its node. None is there, and the pool says so between the other lines.
          SOLANA_RPC_URL: "http://127.0.0.1:9",
          CUSTODY_PROGRAM_ID: LOCAL_DEPLOYMENT.custodyProgram,
          ATTESTOR_PROGRAM_ID: LOCAL_DEPLOYMENT.attestorProgram,
          WITNESS_LOGS: await file("logs.txt", `${printVerifierKey(log)} http://127.0.0.1:9\n`),
          WITNESS_KEY_FILE: await file("witness.key", Buffer.alloc(32, 9).toString("base64")),
          WITNESS_NAME: "w.example",
          DATA_DIR: join(directory.path, "witness"),
          PORT: "0",
        },
      }),
      "witness listening",
    );
    expect(
      said
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as { readonly message: string })
        .filter(({ message }) => message !== "ledger node paused"),
    ).toMatchObject([
      { time: expect.any(String), level: "info", message: "witness listening" },
      { level: "info", message: "stopping", by: "the end of npx" },
    ]);
  },
  60_000,
);

linuxTest(
  "nor an attestor that waits for exchanges",
  async () => {
    const rules = await file("rules.json", JSON.stringify(RULES));
    const key = await file("attestor.key", keyText(new Uint8Array(32).fill(8)));
    const input = await openInput("exchanges", "{\n");
    const attestor = `${command("attestor")} --rules "${rules}" --trust test/vectors/evidence/trust.json --key "${key}" --journal "${directory.path}"`;
    await endNpxAt(underNpx(attestor, { stdin: input.fd }), '"decision":');
    await input.close();
  },
  60_000,
);

linuxTest(
  "nor a model's tools",
  async () => {
    const hello = {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: {
        protocolVersion: "2025-06-18",
        capabilities: {},
        clientInfo: { name: "test", version: "1" },
      },
    };
    const input = await openInput("messages", `${JSON.stringify(hello)}\n`);
    const tools = `${command("mcp")} --service http://127.0.0.1:9`;
    await endNpxAt(underNpx(tools, { stdin: input.fd }), '"serverInfo"');
    await input.close();
  },
  60_000,
);

test.concurrent("a command's help ends by itself, under npx too", async () => {
  const npx = underNpx(`${command("local-ledger")} --help`);
  expect(await new Response(npx.stdout).text()).toContain("--data-dir");
  expect(await npx.exited).toBe(0);
}, 60_000);
