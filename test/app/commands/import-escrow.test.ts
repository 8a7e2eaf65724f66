import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { runCommand } from "../../../app/command-line/command-line.ts";
import { main } from "../../../app/commands/import-escrow.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { startLedger } from "../../adapters/local-ledger/ledger-fixture.ts";
import { archivedGenesis, RELEASED_ESCROW as ESCROW } from "../support/archived-genesis.ts";
import { runHere } from "../support/run-here.ts";
import {
  quietEnvironment,
  runService,
  synced,
  temporaryDirectory,
} from "../support/running-service.ts";

/** The demo data's Pending escrow; see README.md. */
const PENDING = "EpfWbK4mHqwAxUYQ9o8Kp2Di27Pe2nD9CxxzP4rjBf7b";
const HISTORY = new Set(["getSignaturesForAddress", "getTransaction"]);

let ledger: ReturnType<typeof startLedger>;
let node: ReturnType<typeof forgetfulNode>;
let withHistory: Service;
const closing: Array<() => Promise<unknown>> = [];

type Service = Awaited<ReturnType<typeof start>>;
type Call = { readonly id: unknown; readonly method: string };

/** A node of the ledger that keeps no history: no address has a transaction, and no transaction is known. */
const forgetfulNode = (url: string) =>
  Bun.serve({
    port: 0,
    fetch: async (request) => {
      const text = await request.text();
      const { id, method } = JSON.parse(text) as Call;
      if (HISTORY.has(method))
        return Response.json({
          jsonrpc: "2.0",
          id,
          result: method === "getTransaction" ? null : [],
        });
      return fetch(url, { method: "POST", body: text });
    },
  });

/** A service on a node, with an index of its own that only requests sync. */
const start = async (rpcUrl: string, more: Readonly<Record<string, string>> = {}) => {
  const directory = await temporaryDirectory();
  const service = await runService({
    ...quietEnvironment(directory.path),
    SOLANA_RPC_URL: rpcUrl,
    SOLANA_WS_URL: ledger.webSocketUrl,
    SOLANA_CLUSTER: "localnet",
    CUSTODY_PROGRAM_ID: LOCAL_DEPLOYMENT.custodyProgram,
    ATTESTOR_PROGRAM_ID: LOCAL_DEPLOYMENT.attestorProgram,
    EVIDENCE_SIGNING_KEY: Buffer.alloc(32, 7).toString("base64"),
    SYNC_INTERVAL_SECONDS: "0",
    ...more,
  });
  closing.push(async () => {
    await service.stop();
    await directory.remove();
  });
  await synced(service.url);
  return { ...service, dataDir: directory.path };
};

const shown = async ({ url }: Service) => {
  const answer = await fetch(`${url}/v1/escrows/${ESCROW}`);
  const { data } = (await (await fetch(`${url}/v1/status`)).json()) as {
    readonly data: { readonly indexer: { readonly unseen: number } };
  };
  return { status: answer.status, unseen: data.indexer.unseen };
};

const run = (to: Service, ...packets: ReadonlyArray<string>) => {
  const own = ["--service", to.url, "--data-dir", to.dataDir];
  return runHere((io) => runCommand(main, [...own, ...packets], io));
};

beforeAll(async () => {
  ledger = startLedger({ genesis: archivedGenesis() });
  node = forgetfulNode(ledger.url);
  withHistory = await start(ledger.url);
}, 120_000);
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
  await node.stop(true);
  await ledger.stop();
});

test("a service whose node keeps no history gets an archived escrow from a packet, and refuses others with one line", async () => {
  const service = await start(node.url.href);
  expect(await shown(service)).toEqual({ status: 410, unseen: 1 });
  const packet = await (await fetch(`${withHistory.url}/v1/evidence/${ESCROW}`)).text();
  const pending = await (await fetch(`${withHistory.url}/v1/evidence/${PENDING}`)).text();
  const { data, ...rest } = JSON.parse(packet) as { readonly data: { readonly account: object } };
  const account = { ...data.account, data_base64: Buffer.alloc(368, 1).toString("base64") };
  const unknown = packet.replaceAll(ESCROW, LOCAL_DEPLOYMENT.attestorProgram);
  const files = {
    "forged.json": [
      JSON.stringify({ ...rest, data: { ...data, account } }),
      65,
      "do not have the digest",
    ],
    "pending.json": [pending, 65, "is not archived"],
    "unknown.json": [unknown, 65, "has no escrow"],
    "nonsense.json": ["nonsense", 65, "is no evidence packet"],
    "long.json": [" ".repeat(70_000), 66, "longer than a packet"],
  } as const;
  for (const [name, [text, code, reason]] of Object.entries(files)) {
    const path = join(service.dataDir, name);
    await Bun.write(path, text);
    // A packet that is refused keeps the others from being imported too.
    const refused = await run(service, `${withHistory.url}/v1/evidence/${ESCROW}`, path);
    expect(refused).toMatchObject({ code, stdout: "" });
    expect(refused.stderr).toMatch(new RegExp(`^[^\\n]*${reason}[^\\n]*\\n$`));
  }
  expect((await run(service, join(service.dataDir, "missing.json"))).code).toBe(66);
  expect((await run(service)).code).toBe(64);
  expect(await shown(service)).toEqual({ status: 410, unseen: 1 });

  const path = join(service.dataDir, "packet.json");
  await Bun.write(path, packet);
  expect(await run(service, path)).toMatchObject({ code: 0, stdout: `${ESCROW} is imported\n` });
  expect(await shown(service)).toEqual({ status: 200, unseen: 0 });
  expect(await run(service, path)).toMatchObject({
    code: 0,
    stdout: `${ESCROW} is known already\n`,
  });
  const imported = await (await fetch(`${service.url}/v1/evidence/${ESCROW}`)).json();
  expect(imported).toMatchObject({ data: { account: data.account } });
}, 120_000);

test("packets in another folder than the service's are not taken, which the command says", async () => {
  const service = await start(node.url.href);
  const elsewhere = { ...service, dataDir: join(service.dataDir, "elsewhere") };
  const told = await run(elsewhere, `${withHistory.url}/v1/evidence/${ESCROW}`);
  expect(told).toMatchObject({ code: 69, stdout: "" });
  expect(told.stderr).toContain("give its DATA_DIR with --data-dir");
}, 120_000);

test("a service whose node keeps no history gets an archived escrow from a peer, and counts one that lies", async () => {
  const liar = Bun.serve({ port: 0, fetch: () => new Response("{}") });
  closing.push(() => liar.stop(true));
  const peers = `${liar.url.href},${withHistory.url}`;
  // A peer is waited for two seconds. This one has looked the packet up by then.
  await fetch(`${withHistory.url}/v1/evidence/${ESCROW}`);
  const service = await start(node.url.href, { ARCHIVE_PEERS: peers });
  expect(await shown(service)).toEqual({ status: 200, unseen: 0 });
  const metrics = await (await fetch(`${service.url}/metrics`)).text();
  expect(metrics).toContain(`peer_answers_ignored{peer="${liar.url.host}"} 1`);
  expect(metrics).toContain(`peer_packets_used{peer="${new URL(withHistory.url).host}"} 1`);
}, 120_000);
