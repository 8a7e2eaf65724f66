import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { LOCAL_USDC_MINT } from "../../adapters/local-ledger/genesis/local-keys.ts";
import { keyText } from "../../client/node/key-file.ts";
import { parseTrustPolicy } from "../../core/protocol/evidence/trust-policy.ts";
import { verifyEvidence } from "../../core/protocol/verification/verify-evidence.ts";
import { temporaryDirectory, until } from "../app/support/running-service.ts";
import { AGENT, MERCHANT, startMcpService } from "../client/mcp/mcp-service.ts";

/** A dozen processes run one after the other: 43 s where six others share the core. */
const LONG_MS = 240_000;

let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
let service: Awaited<ReturnType<typeof startMcpService>>;
let trust: string;

const file = async (name: string, text: string): Promise<string> => {
  const path = join(folder.path, name);
  await Bun.write(path, text);
  await chmod(path, 0o600);
  return path;
};

beforeAll(async () => {
  [folder, service] = await Promise.all([temporaryDirectory(), startMcpService()]);
  trust = await (await fetch(`${service.url}/.well-known/evidence-trust.json`)).text();
  await file("trust.json", trust);
  await file("agent.json", keyText(AGENT.seed));
  await file("wallet.json", keyText(MERCHANT.seed));
}, 60_000);
afterAll(async () => {
  await service.stop();
  await folder.remove();
});

/** What an example prints, its lines of errors, and the last of these, when the person types `said`. */
const runAt = async (url: string, said: string, name: string, ...args: ReadonlyArray<string>) => {
  const example = fileURLToPath(new URL(`../../examples/${name}.ts`, import.meta.url));
  const child = Bun.spawn([process.execPath, example, ...args], {
    cwd: folder.path,
    env: { ...process.env, SERVICE: url, TRUST_FILE: "trust.json" },
    stdin: new Blob([said]),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  const lines = errors.trimEnd().split("\n");
  return { code: await child.exited, out, lines, error: lines.at(-1) ?? "" };
};

const run = (said: string, name: string, ...args: ReadonlyArray<string>) =>
  runAt(service.url, said, name, ...args);

const tool = (name: string, args: object) => run("y\n", "mcp-call", name, JSON.stringify(args));

/** Signs and relays what a tool prepared, as docs/agents.md does. */
const land = async (prepared: string): Promise<void> => {
  await file("prepared.json", prepared);
  const signed = await run("y\n", "sign", "agent.json", "prepared.json");
  expect([signed.code, signed.error]).toEqual([0, `${AGENT.address} must sign this. Sign? [y/N]`]);
  const relayed = await run("y\n", "mcp-call", "relay_transaction", signed.out);
  expect([relayed.code, relayed.error.slice(0, 36)]).toEqual([
    0,
    "Send this transaction to the ledger?",
  ]);
};

test(
  "a payment by tools, signed on a terminal, is refunded and its packet verifies",
  async () => {
    const terms = {
      agent: AGENT.address,
      merchant: MERCHANT.address,
      mint: LOCAL_USDC_MINT,
      amount: "1500000",
      ttl_seconds: 1,
      task: "GET https://api.example.com/v1/quotes",
      nonce: "terminal",
    };
    const { out: prepared } = await tool("prepare_payment", terms);
    await file("prepared.json", prepared);
    for (const [said, key, error] of [
      ["n\n", "agent.json", "Only y signs. Nothing was signed. Run it again, and type y to sign."],
      ["", "agent.json", "Only y signs. Nothing was signed. Run it again, and type y to sign."],
      [
        "y\n",
        "wallet.json",
        `${MERCHANT.address} is no signer of this. Nothing was signed. Name the key file of ${AGENT.address}.`,
      ],
      ["y\n", "none.json", "none.json cannot be read (ENOENT). Name the file of a key"],
    ] as const) {
      const refused = await run(said, "sign", key, "prepared.json");
      expect([refused.code, refused.out]).toEqual([1, ""]);
      expect(refused.error).toStartWith(error);
    }
    const { escrow } = JSON.parse(prepared) as { readonly escrow: string };
    const { lines } = await run("n\n", "sign", "agent.json", "prepared.json");
    expect(lines[0]).toBe(
      `It will LOCK 1.500000 USDC (mint ${LOCAL_USDC_MINT}) of agent ${AGENT.address} for merchant ${MERCHANT.address} in escrow ${escrow}, refundable after 1 s.`,
    );
    await land(prepared);
    const refund = await until(
      "the escrow expires",
      () => tool("prepare_settlement", { escrow, action: "refund", payer: AGENT.address }),
      ({ code }) => code === 0,
    );
    await land(refund.out);
    const evidence = await tool("read_evidence", { escrow });
    expect(JSON.parse(evidence.out)).toMatchObject({ decision: "refunded" });
    const packet = await (await fetch(`${service.url}/v1/evidence/${escrow}`)).text();
    const policy = parseTrustPolicy(trust);
    if ("fault" in policy) throw new Error(policy.fault);
    expect(verifyEvidence(packet, policy.value).verdict).toBe("verified");
  },
  LONG_MS,
);

test("a wrong tool or argument is the tool's one line", async () => {
  const wrong = await tool("read_escrow", { escrow: "O0Il" });
  expect([wrong.code, wrong.out]).toEqual([1, ""]);
  expect(wrong.error).toStartWith("validation_failed: escrow must be an address");
  expect((await tool("read_escrw", {})).error).toStartWith(
    "There is no tool read_escrw. Call one of ",
  );
});

test("every mistake on the command line is named with its cure", async () => {
  const line = async (asked: ReturnType<typeof run>): Promise<string> => {
    const { code, out, error } = await asked;
    expect([code, out]).toEqual([1, ""]);
    return error;
  };
  expect(await line(run("", "mcp-call", "read_escrow", "{escrow}"))).toBe(
    `ARGUMENTS is no JSON object. Give one in quotes, such as '{"escrow":"<address>"}'.`,
  );
  expect(await line(runAt("", "", "mcp-call", "service_status"))).toBe(
    "SERVICE names no service. Set it to an address such as http://127.0.0.1:3000.",
  );
  expect(await line(runAt("http://127.0.0.1:1", "", "mcp-call", "service_status"))).toEndWith(
    "Start the service, or correct SERVICE (http://127.0.0.1:1).",
  );
  const again = "Nothing was signed. Name the file of what a prepare tool or a link printed.";
  expect(await line(run("y\n", "sign", "agent.json", "missing.json"))).toBe(
    `missing.json holds no JSON. ${again}`,
  );
  await file("empty.json", "{}");
  expect(await line(run("y\n", "sign", "agent.json", "empty.json"))).toBe(
    `empty.json holds no transaction. ${again}`,
  );
  await file("nonsense.json", '{"transaction":"AAAA"}');
  expect(await line(run("y\n", "sign", "agent.json", "nonsense.json"))).toEndWith(
    " Nothing was signed. Prepare the transaction again.",
  );
});

test("the refusal of a link is what sign.ts says", async () => {
  await file("refused.json", JSON.stringify({ status: 409, message: "Too early. Wait." }));
  const refused = await run("y\n", "sign", "agent.json", "refused.json");
  expect([refused.code, refused.error]).toEqual([1, "Too early. Wait. Nothing was signed."]);
});
