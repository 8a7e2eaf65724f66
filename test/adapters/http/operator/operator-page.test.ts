import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Context, Effect } from "effect";
import { createHttpApp } from "../../../../adapters/http/server/http-app.ts";
import { operatorPage } from "../../../../adapters/http/operator/operator-screen.ts";
import {
  type OperatorFacts,
  readOperatorFacts,
} from "../../../../core/use-cases/service/operator-facts.ts";
import {
  OPERATOR_ALERTS,
  operatorWarnings,
} from "../../../../adapters/http/operator/operator-alerts.ts";
import { FACT_GAUGES } from "../../../../adapters/http/service/fact-gauges.ts";
import {
  type MetricName,
  type MetricRow,
  METRICS,
} from "../../../../adapters/http/service/metrics.ts";
import { HostReports } from "../../../../ports/host-report.ts";
import { pageText } from "../../../../adapters/http/pages/shell/shell.ts";
import { NodeTally } from "../../../../adapters/solana-rpc/pool/node-tally.ts";
import { NodeFault, RpcRefusal } from "../../../../adapters/solana-rpc/transport/rpc-failure.ts";
import { plantedFacts } from "./planted-facts.ts";
import { standing } from "../support/standing-service.ts";

const { service } = await standing();
const operator = createHttpApp({ context: service.context, serves: "metrics" });
const get = (app: typeof operator, path: string) =>
  app.handle(new Request(`http://localhost${path}`, { headers: { accept: "text/html" } }));

const {
  well,
  log,
  node,
  planted: PLANTED,
} = plantedFacts(await service.runtime.runPromise(readOperatorFacts));
const { index, relay, host, nowMs } = well;

test.each(Object.entries(PLANTED))("%s is shown alone, with its cure", (alert, planted) => {
  const facts = { ...well, ...planted };
  const warnings = operatorWarnings(facts);
  expect(warnings.map((warning) => warning.name)).toEqual([alert]);
  const page = pageText(operatorPage(facts), null);
  expect(page).toContain(`<strong>${alert}</strong>`);
  expect(page).toContain("What to run");
  expect(page).not.toContain("Nothing needs the operator");
});

test("a fact that a service without a log does not have is left out, not shown without a value", () => {
  expect(pageText(operatorPage({ ...well, log }), null)).toContain("Leaves signed and published");
  const page = pageText(operatorPage({ ...well, log: null }), null);
  expect(page).not.toContain("Leaves signed and published");
  expect(page).not.toMatch(/<dd>\s*<\/dd>/);
});

test("a sync that failed for a store that has said what is wrong tells that, and the cure", () => {
  const storeFault = { problem: "no space is left on its disk", cure: "Free space on its disk." };
  const activity = { ...well.activity, lastError: "StoreUnavailable", storeFault } as const;
  expect(operatorWarnings({ ...well, activity }).map(({ says }) => says)).toEqual([
    "The last sync failed, because the store cannot be used: no space is left on its disk. Free space on its disk.",
  ]);
});

test("what keeps syncs from completing as well is told once, with the reason", () => {
  const storeFault = { problem: "no space is left on its disk", cure: "Free space on its disk." };
  const activity = { ...well.activity, lastError: "StoreUnavailable", storeFault } as const;
  const relay = { ...well.relay, unrecorded: { fault: null } };
  const warned = (notReady: OperatorFacts["notReady"]) =>
    operatorWarnings({ ...well, activity, relay, notReady }).map(({ name }) => name);
  expect(warned([])).toEqual(["RelayNotRecorded", "IndexSyncFailing"]);
  expect(warned(["pins"])).toEqual(["ServiceNotReady", "RelayNotRecorded", "IndexSyncFailing"]);
  for (const part of ["ledger", "identity", "index"] as const)
    expect(warned([part])).toEqual(["ServiceNotReady", "RelayNotRecorded"]);
  expect(warned(["store"])).toEqual(["ServiceNotReady"]);
  expect(operatorWarnings({ ...well, activity, notReady: ["index"] })[0]?.says).toBe(
    "The index has not been synced yet. The last sync failed, because the store cannot be used: no space is left on its disk. Free space on its disk.",
  );
});

test("a store that refuses to record transactions has its own problem and cure", () => {
  const fault = { problem: "no space is left on its disk", cure: "Free space on its disk." };
  const says = operatorWarnings({ ...well, relay: { ...relay, unrecorded: { fault } } })[0]?.says;
  expect(says).toBe(
    "Transactions cannot be recorded, so that none is relayed: no space is left on its disk. Free space on its disk.",
  );
});

test("a part that is not ready has the cure that the store or the node told, as /ready has", () => {
  const notReadyCure = "Start the database server.";
  expect(
    operatorWarnings({ ...well, notReady: ["store", "pins"], notReadyCure }).map(
      ({ says }) => says.split(". ")[1],
    ),
  ).toEqual(["Start the database server.", "Sign nothing for it"]);
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

test("while the store is away the page knows of no leaf and no witness", () => {
  const facts = { ...well, log: { ...log, size: null, publishedSize: null, cosignatures: [] } };
  const there = pageText(operatorPage(facts), null);
  const away = pageText(operatorPage({ ...facts, notReady: ["store"] }), null);
  for (const text of ["0 and 0", "No witness has cosigned"]) {
    expect(there).toContain(text);
    expect(away).not.toContain(text);
  }
  expect(away).toContain("Not known while the store does not answer.");
});

test("a large disk is told in GiB, a small store in MiB", () => {
  const disk = { freeBytes: 72.25 * 2 ** 30, sizeBytes: 252 * 2 ** 30 };
  const facts = { ...well, host: { stores: [], residentBytes: 177 * 2 ** 20, disk } };
  const page = pageText(operatorPage(facts), null);
  for (const text of ["72.3 GiB of 252.0 GiB", "177.0 MiB"]) expect(page).toContain(text);
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
  // It is asked again after 50 ms, and counts as paused until it has answered, or nobody has asked it for a minute.
  expect(tally.report(60_049).isPaused).toBe(true);
  expect(tally.report(60_050).isPaused).toBe(false);
  tally.answered(110);
  expect(tally.report(51).isPaused).toBe(false);
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

test("a scrape has the table's metrics with their labels, and no other", async () => {
  const app = createHttpApp({ context: service.context });
  await app.handle(new Request("http://localhost/health"));
  const text = await (await app.handle(new Request("http://localhost/metrics"))).text();
  const types = Array.from(text.matchAll(/^# TYPE settlement_evidence_(\w+) (\w+)$/gm), (m) => m);
  expect(types.length).toBeGreaterThan(20);
  for (const [, name = "", type] of types)
    expect([name, type]).toEqual([name, METRICS[name as MetricName]?.type]);
  for (const [name, { about }] of Object.entries<MetricRow>(METRICS)) {
    const help = new RegExp(`^# HELP settlement_evidence_${name} (.*)$`, "m").exec(text)?.[1];
    if (help !== undefined) expect([name, help]).toEqual([name, about]);
  }
  for (const [, name = "", labels = ""] of text.matchAll(/^settlement_evidence_(\w+)\{(.*)\} /gm)) {
    const family = name.replace(/^(http_request_duration_seconds)_\w+$/, "$1") as MetricName;
    const names = Array.from(labels.matchAll(/(\w+)="/g), (m) => m[1] ?? "");
    expect([name, names.filter((label) => label !== "le").toSorted()]).toEqual([
      name,
      METRICS[family].labels.toSorted(),
    ]);
  }
});

test("a metric is declared where the table has it", () => {
  const root = join(import.meta.dir, "../../../..");
  const declared = [...new Bun.Glob("{core,ports,adapters,app}/**/*.ts").scanSync({ cwd: root })]
    .flatMap((file) =>
      Array.from(
        readFileSync(join(root, file), "utf8").matchAll(
          /Metric\.(?:gauge|counter|histogram|frequency|summary|timer)\("(\w+)"/g,
        ),
        ([, name = ""]) => name,
      ),
    )
    .concat(Object.keys(FACT_GAUGES));
  expect(declared.toSorted()).toEqual(Object.keys(METRICS).toSorted());
});

test("a gauge whose subject is gone is not told as it was", async () => {
  let cosigned = true;
  const context = Context.add(
    service.context,
    HostReports,
    Effect.sync(() => ({
      stores: cosigned ? [{ name: "index", kind: "sqlite", bytes: 7, schema: 1 } as const] : [],
      residentBytes: 1,
      disk: null,
    })),
  );
  const app = createHttpApp({ context, serves: "metrics" });
  const bytes = async () =>
    /^settlement_evidence_store_bytes\{.*\} (\S+)$/m.exec(
      await (await app.handle(new Request("http://localhost/metrics"))).text(),
    )?.[1];
  expect(await bytes()).toBe("7");
  cosigned = false;
  expect(await bytes()).toBe("NaN");
});

test("the runbook has a heading for each alert, with the alert's command", () => {
  const page = readFileSync(join(import.meta.dir, "../../../../docs/runbook.md"), "utf8");
  const sections = page.split(/^## /m).slice(1);
  expect(sections.map((section) => section.slice(0, section.indexOf("\n")))).toEqual(
    OPERATOR_ALERTS.map(({ name }) => name),
  );
  for (const [at, { name, command }] of OPERATOR_ALERTS.entries()) {
    const section = (sections[at] ?? "").replaceAll(/\s+/g, " ");
    expect([name, section.includes(command)]).toEqual([name, true]);
    for (const part of ["**It means**", "**Look at**", "**Do**"])
      expect([name, part, section.includes(part)]).toEqual([name, part, true]);
  }
});
