import { mkdtemp, rm, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readCommandLine } from "../../app/command-line/command-line.ts";
import {
  localKey,
  LOCAL_USDC_MINT,
  type LocalKey,
} from "../../adapters/local-ledger/genesis/local-keys.ts";
import { canonicalJsonBytes } from "../../core/domain/encoding/canonical-json.ts";
import { PROOF_TEMPLATES } from "../../core/domain/evidence/proof-template.ts";
import { taskHash } from "../../core/domain/escrow/task-hash.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { withDemoLedger } from "../app/support/demo-ledger.ts";
import {
  quietEnvironment,
  runService,
  temporaryDirectory,
  until,
  untilReady,
} from "../app/support/running-service.ts";
import { type Language, languages } from "./languages.ts";
import { runSessions } from "./run-sessions.ts";
import { startExample } from "./start-example.ts";
import { createPrivateKey, createPublicKey } from "node:crypto";

/** DER of a PKCS #8 Ed25519 private key up to its 32-byte seed (RFC 8410, section 7). */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");

/** A key as an example reads it: 64 hex digits, and the path of a PEM file written into `folder`. */
const keyFor = async (folder: string, name: string, { seed }: LocalKey) => {
  const der = Buffer.concat([PKCS8_PREFIX, seed]);
  const pem = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const path = join(folder, `${name}.pem`);
  await Bun.write(path, pem.export({ format: "pem", type: "pkcs8" }));
  return { hex: Buffer.from(seed).toString("hex"), path };
};

/**
 * A public key, `x` of a JSON Web Key, as an example reads it: base64, and the path of a PEM file written into
 * `folder`.
 */
const publicKeyFor = async (folder: string, name: string, x: string) => {
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  const path = join(folder, `${name}.pem`);
  await Bun.write(path, key.export({ format: "pem", type: "spki" }));
  return { base64: Buffer.from(x, "base64url").toString("base64"), path };
};

const examples = new URL("../../examples/", import.meta.url).pathname;
const MAX_LINES = 25;
const MAX_COLUMNS = 120;

/**
 * Checks that each role's file has at most 25 lines that are neither empty nor a comment, and none beyond 120 columns.
 * @throws Error that names the first file that has more.
 */
const checkLines = async (): Promise<void> => {
  for (const name of await readdir(examples)) {
    if (!/^(agent|merchant|passer_by|transactions)\./.test(name)) continue;
    const lines = (await Bun.file(examples + name).text()).split("\n");
    const code = lines.filter((line) => !/^\s*((#|\/\/|\/\*).*)?$/.test(line)).length;
    if (code > MAX_LINES && !name.startsWith("transactions."))
      throw new Error(`${name} has ${code} lines of code`);
    if (lines.some((line) => line.length > MAX_COLUMNS))
      throw new Error(`${name} has a line of more than ${MAX_COLUMNS} columns`);
  }
};

const HELP = `Runs each example of examples/ against a service of its own, and asks the ledger what came of it.
A language whose tools are absent is skipped.

usage: bun run test:more examples

  --help   this text

Ends with 1 when an example failed.
`;

readCommandLine(HELP, {});

const AMOUNT = 1_000_000n;
const INTENT = "GET https://api.example.com";
const [agent, merchant, attestor] = [
  localKey("agent/planner"),
  localKey("merchant/forecast"),
  localKey("attestor/forecast"),
];

await checkLines();
const folder = await mkdtemp(join(tmpdir(), "examples-"));
const directory = await temporaryDirectory();
const service = await runService(quietEnvironment(withDemoLedger(directory.path)));

const expect = (what: string, found: unknown, expected: unknown): void => {
  if (!Bun.deepEquals(found, expected))
    throw new Error(`${what}: ${Bun.inspect(found)}, not ${Bun.inspect(expected)}`);
};

const ask = async (path: string, body?: object) => {
  const headers = { "content-type": "application/json" };
  const request = body && { method: "POST", headers, body: JSON.stringify(body) };
  return (await fetch(service.url + path, request)).json();
};

/** Base units of the mock USDC that a wallet holds, by the ledger's own answer. */
const balance = async (wallet: string): Promise<bigint> => {
  const params = [wallet, { mint: LOCAL_USDC_MINT }, { encoding: "jsonParsed" }];
  const body = { jsonrpc: "2.0", id: 1, method: "getTokenAccountsByOwner", params };
  const answer = await fetch(service.rpcUrl, { method: "POST", body: JSON.stringify(body) });
  const { result } = await answer.json();
  return BigInt(result.value[0]?.account.data.parsed.info.tokenAmount.amount ?? 0);
};

const balances = async () => [await balance(agent.address), await balance(merchant.address)];

const termsOf = (nonce: string, ttl_seconds: number) => ({
  agent_owner: agent.address,
  merchant: merchant.address,
  attestor: attestor.address,
  mint: LOCAL_USDC_MINT,
  amount_stroops: `${AMOUNT}`,
  ttl_seconds,
  task_intent: INTENT,
  nonce,
});

const payloadOf = (nonce: string): string => {
  const task_hash = taskHash(INTENT, nonce);
  return new TextDecoder().decode(
    canonicalJsonBytes({ ...PROOF_TEMPLATES[0]?.example, task_hash }),
  );
};

const environment = async (): Promise<Record<string, string>> => {
  const { keys } = await ask("/.well-known/jwks.json");
  const trust = await ask("/.well-known/evidence-trust.json");
  const [a, b, c, d] = [
    await keyFor(folder, "agent", agent),
    await keyFor(folder, "attestor", attestor),
    await keyFor(folder, "payer", merchant),
    await publicKeyFor(folder, "service", keys[0].x),
  ];
  return {
    SERVICE: service.url,
    CUSTODY: LOCAL_DEPLOYMENT.custodyProgram,
    GENESIS: trust.genesis_hash,
    TMPDIR: folder,
    AGENT_KEY: a.hex,
    AGENT_PEM: a.path,
    ATTESTOR_KEY: b.hex,
    ATTESTOR_PEM: b.path,
    PAYER_KEY: c.hex,
    PAYER_PEM: c.path,
    PAYER: merchant.address,
    SERVICE_KEY: d.base64,
    SERVICE_PEM: d.path,
    TRUST: JSON.stringify(trust),
  };
};

const env = await environment();

/** An agent's escrow, while the agent waits for its delivery. */
const locked = async ({ agent }: Language, nonce: string, ttl: number) => {
  const started = startExample(agent, { ...env, TERMS: JSON.stringify(termsOf(nonce, ttl)) });
  const [ESCROW = "", status] = (await started.firstLine).split(" ");
  if (status !== "landed") await started.finish("");
  return { started, ESCROW };
};

const stateOf = async (escrow: string) => {
  const { data } = await ask(`/v1/escrows/${escrow}`);
  return [data.state, data.released_stroops, data.refunded_stroops];
};

/** An agent and a merchant, from the escrow to the evidence of its release. */
const delivered = async (language: Language): Promise<void> => {
  const nonce = `delivered-${language.name}`;
  const [agentHad = 0n, merchantHad = 0n] = await balances();
  const { started, ESCROW } = await locked(language, nonce, 3600);
  expect("after the agent", await balances(), [agentHad - AMOUNT, merchantHad]);
  const PAYLOAD = payloadOf(nonce);
  const merchant = startExample(language.merchant, { ...env, ESCROW, PAYLOAD });
  expect("the merchant's end", await merchant.finish(""), "landed released");
  expect("the agent's end", (await started.finish(PAYLOAD)).toLowerCase(), "verified true");
  expect("the escrow", await stateOf(ESCROW), ["Fulfilled", `${AMOUNT}`, "0"]);
  expect("after the merchant", await balances(), [agentHad - AMOUNT, merchantHad + AMOUNT]);
};

/** What an attestor signs for anybody to release with. */
const claimFor = async (escrow: string, nonce: string): Promise<string> => {
  const payload = JSON.parse(payloadOf(nonce));
  const { data } = await ask(`/v1/escrows/${escrow}/attestation/prepare`, { payload });
  const signature = attestor.sign(Buffer.from(data.message_hex, "hex"));
  const attestation_signature = Buffer.from(signature).toString("base64");
  return JSON.stringify({
    proof_hash: data.proof_hash,
    timestamp: data.timestamp,
    attestation_signature,
  });
};

/** A passer-by releases one escrow, and refunds one that has expired. */
const passedBy = async (language: Language, passerBy: ReadonlyArray<string>): Promise<void> => {
  const before = await balances();
  const [expiring, released] = [
    await locked(language, `expiring-${language.name}`, 1),
    await locked(language, `released-${language.name}`, 3600),
  ];
  const CLAIM = await claimFor(released.ESCROW, `released-${language.name}`);
  const release = startExample(passerBy, { ...env, ESCROW: released.ESCROW, CLAIM });
  expect("the passer-by's release", await release.finish(""), "landed released");
  expect("the released", await stateOf(released.ESCROW), ["Fulfilled", `${AMOUNT}`, "0"]);
  await until(
    "the escrow has expired",
    () => ask(`/v1/escrows/${expiring.ESCROW}`),
    ({ data }) => data.refundable,
  );
  const refund = startExample(passerBy, { ...env, ESCROW: expiring.ESCROW, CLAIM: "{}" });
  expect("the passer-by's refund", await refund.finish(""), "landed refunded");
  expect("the refunded", await stateOf(expiring.ESCROW), ["Refunded", "0", `${AMOUNT}`]);
  const [agentHad = 0n, merchantHad = 0n] = before;
  expect("afterwards", await balances(), [agentHad - AMOUNT, merchantHad + AMOUNT]);
  await Promise.all([expiring.started.finish("{}"), released.started.finish("{}")]);
};

try {
  await untilReady(service.url);
  for (const language of languages()) {
    if (language.missing !== undefined) {
      process.stdout.write(`SKIPPED ${language.name}: ${language.missing} is absent\n`);
      continue;
    }
    await delivered(language);
    if (language.passerBy !== null) await passedBy(language, language.passerBy);
    if (language.name === "Python") expect("the sessions' end", await runSessions(), "verified");
    process.stdout.write(`ran ${language.name}\n`);
  }
} finally {
  await service.stop();
  await directory.remove();
  await rm(folder, { recursive: true });
}
