import { expect, test } from "bun:test";
import { createHttpApp } from "../../../../adapters/http/server/http-app.ts";
import { operatorPage } from "../../../../adapters/http/operator/operator-screen.ts";
import {
  type OperatorFacts,
  readOperatorFacts,
} from "../../../../core/use-cases/service/operator-facts.ts";
import { operatorWarnings } from "../../../../core/use-cases/service/operator-warnings.ts";
import { pageText } from "../../../../adapters/http/pages/shell/shell.ts";
import { NodeTally } from "../../../../adapters/solana-rpc/pool/node-tally.ts";
import { NodeFault, RpcRefusal } from "../../../../adapters/solana-rpc/transport/rpc-failure.ts";
import { statusExample } from "../../../../adapters/http/service/status/status-contract.ts";
import { standing } from "../support/standing-service.ts";

const { service } = await standing();
const operator = createHttpApp({ context: service.context, serves: "metrics" });
const get = (app: typeof operator, path: string) =>
  app.handle(new Request(`http://localhost${path}`, { headers: { accept: "text/html" } }));

const well: OperatorFacts = {
  ...(await service.runtime.runPromise(readOperatorFacts)),
  nodes: [],
  log: null,
};
const node = (isPaused: boolean) => ({
  ...new NodeTally("https://node.example", 0).report(0),
  isPaused,
});
const log: NonNullable<OperatorFacts["log"]> = {
  state: "publishing",
  origin: "o",
  vkey: "o+01234567+AQ",
  nextVkey: null,
  size: 9,
  root: null,
  publishedSize: 9,
  quorum: null,
  cosignedAt: null,
  cosignatures: [],
  hindrance: null,
  ended: null,
  predecessors: [],
  witnesses: [],
  missingWitnesses: [],
};
const head = { count: 1n, root: `${statusExample().indexer.root}` };
const { index, activity, relay, host, nowMs } = well;

/** For each warning a state in which that alone is wrong. */
const PLANTED: Readonly<Record<string, Partial<OperatorFacts>>> = {
  IndexHistoryContradicted: {
    activity: {
      ...activity,
      contradiction: {
        kind: "earlier_state",
        index: head,
        ledger: head,
        firstDifference: null,
      } as NonNullable<(typeof activity)["contradiction"]>,
    },
  },
  IndexSyncFailing: { activity: { ...activity, lastError: "LedgerTimeout" } },
  IndexSnapshotFailing: { activity: { ...activity, snapshotFailures: 1 } },
  IndexBehind: { index: { ...index, lagSlots: 751n } },
  LedgerNodePaused: { nodes: [node(true)] },
  RelayStuck: { relay: { ...relay, oldestAgeMs: 300_001 } },
  RelayQueueFilling: { relay: { ...relay, pending: 801 } },
  LogNotPublished: { log: { ...log, publishedSize: 8, hindrance: "quorum_missing" } },
  WitnessCosignatureOld: {
    log: {
      ...log,
      cosignatures: [{ name: "w.example", time: BigInt(Math.floor(nowMs / 1000) - 3601) }],
    },
  },
  DiskAlmostFull: {
    host: { stores: [], residentBytes: 1, disk: { freeBytes: 9, sizeBytes: 100 } },
  },
};

test.each(Object.entries(PLANTED))("%s is shown alone, with its cure", (alert, planted) => {
  const facts = { ...well, ...planted };
  const warnings = operatorWarnings(facts);
  expect(warnings.map((warning) => warning.alert)).toEqual([alert]);
  const page = pageText(operatorPage(facts), null);
  expect(page).toContain(`<strong>${alert}</strong>`);
  expect(page).toContain("What to run");
  expect(page).not.toContain("Nothing needs the operator");
});

test("a service that is well has no warning, at the bounds of each", () => {
  const facts: OperatorFacts = {
    ...well,
    index: { ...index, lagSlots: 750n },
    nodes: [node(false)],
    relay: { ...relay, pending: 800, oldestAgeMs: 300_000 },
    log: {
      ...log,
      // A checkpoint that was signed a moment ago.
      publishedSize: 8,
      cosignatures: [{ name: "w.example", time: BigInt(Math.floor(nowMs / 1000) - 3599) }],
    },
    host: { stores: [], residentBytes: 1, disk: { freeBytes: 10, sizeBytes: 100 } },
  };
  expect(operatorWarnings(facts)).toEqual([]);
  expect(pageText(operatorPage(facts), null)).toContain("Nothing needs the operator now.");
  expect(host).toBeNull();
});

test("the metrics' listener has the page and its files, and nothing of the public pages", async () => {
  const answer = await get(operator, "/");
  expect([answer.status, answer.headers.get("content-type")]).toEqual([
    200,
    "text/html; charset=utf-8",
  ]);
  const page = await answer.text();
  expect(page).toContain("<h1>Operator</h1>");
  const hrefs = Array.from(page.matchAll(/(?:href|src)="(\/[^"]*)"/g), ([, path = ""]) => path);
  expect(hrefs.length).toBeGreaterThan(2);
  for (const path of hrefs)
    expect([path, (await operator.handle(new Request(`http://localhost${path}`))).status]).toEqual([
      path,
      200,
    ]);
  expect((await get(operator, "/escrows")).status).toBe(404);
});

test("the public listener does not have it", async () => {
  const apart = createHttpApp({ context: service.context, serves: "all_but_metrics" });
  expect(await (await get(apart, "/")).text()).not.toContain("<h1>Operator</h1>");
  expect((await get(apart, "/metrics")).status).toBe(404);
  expect((await get(apart, "/operator")).status).toBe(404);
});

test("page and metrics show what a node did, and hostile names as text", async () => {
  const tally = new NodeTally("https://node.example", 1);
  tally.answered(100);
  tally.answered(200);
  const failing = { node: "https://node.example", method: "getSlot", code: null };
  tally.failed(new NodeFault({ ...failing, kind: "unreachable", retryAfterMs: null }));
  tally.failed(new RpcRefusal({ ...failing, code: -32602, data: null }));
  tally.passedOver();
  tally.paused(50);
  const report = tally.report(49);
  expect(report).toEqual({
    address: "https://node.example",
    place: 1,
    latencyMs: 110,
    answered: 2,
    faults: new Map([["unreachable", 1]]),
    refusals: 1,
    failovers: 1,
    isPaused: true,
  });
  expect(tally.report(50).isPaused).toBe(false);
  const hostile = { ...log, missingWitnesses: ["<script>alert(1)</script>"] };
  const page = pageText(operatorPage({ ...well, nodes: [report], log: hostile }), null);
  expect(page).toContain("110.0 ms");
  expect(page).toContain("unreachable 1");
  expect(page).not.toContain("<script>alert");
  const metrics = await (await operator.handle(new Request("http://localhost/metrics"))).text();
  for (const name of ["relay_pending 0", "relay_capacity 1000", "log_publishing 0"])
    expect(metrics).toContain(`\nsettlement_evidence_${name}\n`);
  expect(metrics).toContain("settlement_evidence_build_info{");
});
