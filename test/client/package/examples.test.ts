import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { HTTPFacilitatorClient, x402ResourceServer } from "@x402/core/server";
import { ENTRIES } from "../../../app/client-package/build-package.ts";
import { EXPORT_COLUMNS } from "../../../client/merchant.ts";
import { keySigner } from "../../../client/node/index.ts";
import { memorySessions, sessionSeller } from "../../../client/sessions.ts";
import { keyBlob } from "../../../client/node/ssh-agent-signer.ts";
import { networkOf, sellerScheme } from "../../../client/x402.ts";
import { policyIn } from "../../../client/pinned-policy.ts";
import { addressToBytes, parseAddress } from "../../../core/domain/address.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { CLOCK_SYSVAR } from "../../../core/protocol/addresses/well-known-addresses.ts";
import { temporaryDirectory } from "../../app/support/running-service.ts";
import { clockAccount } from "../../doubles/accounts.ts";
import { AGENT, honestTransaction, MERCHANT } from "../support/fake-service.ts";

const ROOT = join(import.meta.dir, "../../..");
const vector = (name: string): string =>
  readFileSync(join(ROOT, "test/vectors/evidence", name), "utf8");

const trust = vector("trust.json");
const service = "https://service.example";
const signer = keySigner(Buffer.alloc(32, 1));
const attestor = keySigner(Buffer.alloc(32, 2));
const wallet = keySigner(Buffer.alloc(32, 3));
const network = networkOf(trust);
const mint = parseAddress(policyIn(trust).supportedMints[0]?.address ?? "") ?? AGENT;
const [logged] = JSON.parse(vector("log-packets.json")) as [{ readonly packet: string }];

/** A node that shows the ledger's time and nothing else. */
const node = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: async (request) => {
    type Asked = { readonly id: number; readonly method: string; readonly params: [Array<string>] };
    const { id, method, params } = (await request.json()) as Asked;
    const { data, owner, lamports } = clockAccount(1_772_366_400n);
    const clock = { data: [encodeBase64(data), "base64"], owner, lamports: Number(lamports) };
    const value = params?.[0]?.map((address) => (address === CLOCK_SYSVAR ? clock : null));
    const shown = { context: { slot: 1 }, value };
    const result = method === "getGenesisHash" ? policyIn(trust).genesisHash : shown;
    return Response.json({ jsonrpc: "2.0", id, result });
  },
});
const rpc = node.url.href;
const seller = sessionSeller({
  service,
  trust,
  rpc,
  merchant: wallet.address,
  attestor,
  payer: wallet,
  store: memorySessions(),
});

/** What examples use without making it. */
const GIVEN: Record<string, unknown> = {
  trust,
  service,
  rpc,
  seller,
  signer,
  attestor,
  wallet,
  address: signer.address,
  packet: vector("fulfilled.json"),
  callEvidence: vector("call.json"),
  checkpoint: (JSON.parse(logged.packet) as { references: { log: { proof: string } } }).references
    .log.proof,
  claim: {
    version: 3,
    network: "genesis",
    escrow: AGENT,
    terms: "00".repeat(32),
    attestor: attestor.address,
    proof_hash: "00".repeat(32),
    total: "1",
    deliveries: 1,
    final: true,
    template_id: null,
    payload: "{}",
  },
  row: Object.fromEntries(EXPORT_COLUMNS.map((name) => [name, name])),
  price: { scheme: "auth-capture", network, payTo: wallet.address, price: "$0.01" },
  transaction: encodeBase64(
    honestTransaction({
      agent_owner: AGENT,
      merchant: MERCHANT,
      mint,
      amount_stroops: "1500000",
      ttl_seconds: 3600,
      task_intent: "GET https://api.example.com",
      nonce: "order-1",
    }),
  ),
  resources: new x402ResourceServer(new HTTPFacilitatorClient({ url: `${service}/x402` })).register(
    network,
    sellerScheme(service, { trust, attestor, payer: wallet, wallet }),
  ),
};

/** An ssh-agent that holds one key, and answers every request with the list of its keys. */
const sshAgent = async (socketPath: string): Promise<Server> => {
  const field = (bytes: Uint8Array): Buffer => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return Buffer.concat([length, bytes]);
  };
  const key = parseAddress(signer.address);
  if (key === undefined) throw new Error("the signer has no address");
  const keys = [field(keyBlob(addressToBytes(key))), field(Buffer.from("a comment"))];
  const answer = field(Buffer.concat([Uint8Array.of(12, 0, 0, 0, 1), ...keys]));
  const server = createServer((socket) => socket.once("data", () => socket.write(answer)));
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  return server;
};

let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
let agent: Server;

beforeAll(async () => {
  folder = await temporaryDirectory();
  const socketPath = join(folder.path, "agent");
  agent = await sshAgent(socketPath);
  Object.assign(GIVEN, { folder: folder.path, socketPath });
});

afterAll(async () => {
  agent.close();
  await seller.close();
  await node.stop(true);
  await folder.remove();
});

const sources = Array.from(new Bun.Glob("{client,core}/**/*.ts").scanSync(ROOT), (path) =>
  readFileSync(join(ROOT, path), "utf8"),
);

/** The code of the example in a function's doc comment, undefined when it has none. */
const exampleOf = (name: string): string | undefined => {
  const declared = sources.filter((text) => text.includes(`\nexport const ${name} = `));
  expect(declared).toHaveLength(1);
  const [before = ""] = declared.flatMap((text) => text.split(`\nexport const ${name} = `, 1));
  const doc = before.slice(before.lastIndexOf("/**"));
  return /^ \* @example\n((?: \*.*\n)+) \*\/$/m.exec(doc)?.[1]?.replaceAll(/^ \* ?/gm, "");
};

type Run = (...given: ReadonlyArray<unknown>) => Promise<void>;
const AsyncFunction = (async () => {}).constructor as new (...text: ReadonlyArray<string>) => Run;

/** Runs an example. A line `EXPRESSION; // => VALUE` must give that value. */
const runExample = (code: string): Promise<void> => {
  const body = code
    .replaceAll(/^import (\S+) from (".*");$/gm, "const { default: $1 } = await load($2);")
    .replaceAll(/^import (\{.*\}) from (".*");$/gm, "const $1 = await load($2);")
    .replaceAll(/^(.*); \/\/ => (.*)$/gm, "expect($1).toEqual($2);");
  const given = {
    ...GIVEN,
    expect,
    load: (name: string): Promise<unknown> => import(name),
  };
  return new AsyncFunction(...Object.keys(given), `{${body}}`)(...Object.values(given));
};

const entries = await Promise.all(
  Object.entries(ENTRIES).map(async ([entry, module]) => {
    const exported = (await import(join(ROOT, `client/${module}.ts`))) as Record<string, unknown>;
    const names = Object.keys(exported).filter(
      (name) => typeof exported[name] === "function" && !/^[A-Z]/.test(name),
    );
    return [`settlement-evidence${entry.slice(1)}`, names] as const;
  }),
);

for (const [entry, names] of entries)
  describe(`${entry}: every function's example runs`, () => {
    test.each(names)("%s", async (name) => {
      const code = exampleOf(name);
      expect(code).toContain(name);
      await runExample(code ?? "");
    });
  });
