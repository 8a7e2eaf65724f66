import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LOCAL_USDC_MINT, localKey } from "../../adapters/local-ledger/genesis/local-keys.ts";
import { decodeBase64, encodeBase64 } from "../../core/domain/encoding/base64.ts";
import { parseCheckpoint } from "../../core/log/checkpoint/checkpoint.ts";
import { serviceBundle } from "../../app/bundle/service-bundle.ts";
import { until } from "../app/support/running-service.ts";
import { startChild } from "./support/child.ts";
import { report, sizeOf } from "./support/report.ts";
import { residentMb } from "./support/resident-memory.ts";
import { startWitness } from "./support/witness-process.ts";

const EVENTS = sizeOf({ quick: 12, long: 60 });
const GOAL_MS = 1500;
const MEMORY_GOAL_MB = 60;
/** Between two looks at the published checkpoint, and between two events that come alone, milliseconds. */
const LOOK_EVERY_MS = 10;
const ALONE_MS = 2700;
/** Between two events of a ledger that never rests: of about each of its blocks. */
const BUSY_MS = 450;
const agent = localKey("agent/planner");

const folder = mkdtempSync(join(tmpdir(), "settlement-bench-"));
const policy = join(folder, "policy.txt");
// The witnesses' addresses are known once they run, and they want the log's key.
writeFileSync(policy, "quorum none\n");
const service = await startChild(
  `${import.meta.dir}/support/servers/serve-local.ts`,
  join(folder, "service"),
  "0",
  policy,
);
const [url, rpcUrl] = [await service.line(), await service.line()];
const post = async (address: string, body: object): Promise<unknown> =>
  (
    await fetch(address, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    })
  ).json();

type LogStatus = { readonly data: { readonly log: { readonly vkey: string | null } | null } };
const vkey = await until(
  "the log has a key",
  async () =>
    ((await (await fetch(`${url}/v1/status`)).json()) as LogStatus).data.log?.vkey ?? null,
  (key) => key !== null,
);
// Made once for all starts.
await serviceBundle();
const startedMs = performance.now();
const witnesses = await Promise.all(
  [1, 2, 3].map((number) => startWitness({ folder, number, log: `${vkey} ${url}`, rpcUrl })),
);
const startMs = performance.now() - startedMs;
const names = witnesses.map((_, at) => `witness-${at + 1}.example`).join(" ");
const lines = witnesses.map((each) => `${each.policy}\n`).join("");
writeFileSync(policy, `${lines}group some 2 ${names}\nquorum some\n`);

/** The published checkpoint's size and how many have cosigned it. */
const published = async () => {
  const parsed = parseCheckpoint(await (await fetch(`${url}/log/checkpoint`)).text());
  if ("fault" in parsed) return { size: 0, cosignatures: 0 };
  const { checkpoint, note } = parsed.value;
  return { size: checkpoint.size, cosignatures: note.signatures.length - 1 };
};
await until("all have cosigned", published, ({ cosignatures }) => cosignatures === 3, 30);

/** When each size was first seen on the ledger's finalized account, and when published with its quorum. */
const finalized = new Map<string, number>();
const ledger = new WebSocket(rpcUrl.replace("http", "ws"));
ledger.addEventListener("message", ({ data }) => {
  const signature = /"signature":"([^"]+)"/.exec(String(data))?.[1];
  if (signature !== undefined) finalized.set(signature, performance.now());
});
await new Promise((resolve) => ledger.addEventListener("open", resolve));
const mentions = [{ mentions: [agent.address] }, { commitment: "finalized" }];
ledger.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "logsSubscribe", params: mentions }));

const publishedAt = new Map<number, number>();
let newest = (await published()).size;
const watch = new AbortController();
const watching = (async () => {
  while (!watch.signal.aborted) {
    const { size } = await published();
    const nowMs = performance.now();
    for (; newest < size; newest++) publishedAt.set(newest + 1, nowMs);
    await Bun.sleep(LOOK_EVERY_MS);
  }
})();

type Prepared = {
  readonly data: { readonly transaction: { readonly base64: string } };
};
let nonce = 0;
const create = async (): Promise<string> => {
  const { data } = (await post(`${url}/v1/escrows/prepare?transaction=true`, {
    agent_owner: agent.address,
    merchant: localKey("merchant/forecast").address,
    mint: LOCAL_USDC_MINT,
    amount_stroops: "1000",
    ttl_seconds: 3600,
    task_intent: "GET https://api.example.com",
    nonce: `bench-${nonce++}`,
  })) as Prepared;
  const bytes = decodeBase64(data.transaction.base64) ?? new Uint8Array();
  bytes.set(agent.sign(bytes.slice(65)), 1);
  const params = [encodeBase64(bytes), { encoding: "base64", skipPreflight: true }];
  const call = { jsonrpc: "2.0", id: 1, method: "sendTransaction", params };
  const { result } = (await post(rpcUrl, call)) as { result?: string };
  if (result === undefined) throw new Error("the ledger took no transaction");
  return result;
};

/** From an event's finality to its checkpoint with quorum, of events that come in an interval. Milliseconds, sorted. */
const cosignedAfter = async (count: number, everyMs: number): Promise<ReadonlyArray<number>> => {
  const first = (await published()).size;
  const sent: Array<string> = [];
  for (let at = 0; at < count; at++) {
    sent.push(await create());
    // Every phase of the service's own intervals is met.
    await Bun.sleep(everyMs * (0.75 + (0.5 * ((at * 7) % 11)) / 11));
  }
  const reached = () => publishedAt.has(first + count);
  await until("all are published", () => Promise.resolve(reached()), Boolean, 60);
  // They are finalized in the order in which they were sent.
  return sent
    .map(
      (signature, at) => (publishedAt.get(first + at + 1) ?? 0) - (finalized.get(signature) ?? 0),
    )
    .toSorted((a, b) => a - b);
};

const tell = (name: string, took: ReadonlyArray<number>): void => {
  const median = took[Math.floor(took.length / 2)] ?? Number.NaN;
  const [shortest, longest] = [took[0]?.toFixed(0), took.at(-1)?.toFixed(0)];
  report({
    name,
    goal: `median <= ${GOAL_MS} ms`,
    figure: median,
    unit: "ms",
    ratio: `${shortest} to ${longest} ms`,
    pass: median <= GOAL_MS,
  });
};
tell("finality to 2 of 3 cosignatures, alone", await cosignedAfter(EVENTS, ALONE_MS));
tell("the same, in each block", await cosignedAfter(4 * EVENTS, BUSY_MS));
const memory = witnesses.map(({ pid }) => residentMb(pid));
report({
  name: "memory of a witness",
  goal: `< ${MEMORY_GOAL_MB} MB`,
  figure: Math.max(...memory),
  unit: "MB",
  ratio: `started in ${startMs.toFixed(0)} ms, three at once`,
  pass: Math.max(...memory) < MEMORY_GOAL_MB,
});
watch.abort();
await watching;
ledger.close();
for (const witness of witnesses) await witness.stop();
await service.stop();
rmSync(folder, { recursive: true });
