import { expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { OPERATOR_ALERTS, operatorWarnings } from "../../adapters/http/operator/operator-alerts.ts";
import { FACT_GAUGES } from "../../adapters/http/service/fact-gauges.ts";
import type { FactGauge } from "../../adapters/http/service/gauge.ts";
import { METRICS_PREFIX } from "../../adapters/http/service/metrics.ts";
import {
  type OperatorFacts,
  readOperatorFacts,
} from "../../core/use-cases/service/operator-facts.ts";
import { NOT_READY_PARTS } from "../../core/use-cases/service/read-readiness.ts";
import { standing } from "../adapters/http/support/standing-service.ts";
import { plantedFacts } from "../adapters/http/operator/planted-facts.ts";
import { runs } from "../arbitraries/runs.ts";
import { differences, endOf, PROMTOOL, type Samples, seriesOf, type Timeline } from "./promtool.ts";

const RULES = join(import.meta.dir, "../../ops/alerts.yml");
const withPromtool = test.skipIf(PROMTOOL === null);

/** The longest that an alert waits, milliseconds. */
const WAITS_MS = Math.max(...OPERATOR_ALERTS.map(({ forMinutes }) => forMinutes)) * 60_000;
/** The page's moment, so long before promtool's that what is true then has held for long enough. */
const NOW_MS = endOf(1) * 1000 - WAITS_MS;

const { service } = await standing();
const { well, log, node, webhook, planted } = plantedFacts({
  ...(await service.runtime.runPromise(readOperatorFacts)),
  nowMs: NOW_MS,
});

const samplesOf = (facts: OperatorFacts): Samples =>
  new Map([
    [seriesOf("up"), 1],
    ...Object.entries<FactGauge>(FACT_GAUGES).flatMap(([name, { of }]) =>
      of(facts).map(
        ({ labels, value }) =>
          [seriesOf(`${METRICS_PREFIX}_${name}`, labels), Number(value ?? Number.NaN)] as const,
      ),
    ),
  ]);

/** What the operator's page warns of, which Prometheus must alert on. */
const pageSays = (facts: OperatorFacts): ReadonlyArray<string> => [
  ...new Set(operatorWarnings(facts).map(({ name }) => name)),
];
const timelineOf = (name: string, facts: OperatorFacts): Timeline => ({
  name,
  moments: [{ samples: samplesOf(facts), fires: pageSays(facts) }],
});

withPromtool(
  "each alert fires on its planted state, alone, and none while all is well",
  async () => {
    const timelines = [
      timelineOf("well", well),
      ...Object.entries(planted).map(([name, wrong]) => timelineOf(name, { ...well, ...wrong })),
      {
        name: "ServiceDown",
        moments: [{ samples: new Map([[seriesOf("up"), 0]]), fires: ["ServiceDown"] }],
      },
    ];
    expect(timelines.map(({ moments }) => moments[0]?.fires)).toEqual([
      [],
      ...Object.keys(planted).map((name) => [name]),
      ["ServiceDown"],
    ]);
    expect(timelines.length).toBe(OPERATOR_ALERTS.length + 1);
    expect(await differences(RULES, timelines)).toBeNull();
  },
);

const TOLD_WITH = [
  ["RelayNotRecorded", ["store"]],
  ["IndexSyncFailing", ["store", "ledger", "identity", "index"]],
] as const;

withPromtool(
  "what is told with a service that is not ready is told alone while that comes and goes, and never twice",
  async () => {
    const minute = (facts: OperatorFacts, ...fires: ReadonlyArray<string>) => ({
      samples: samplesOf(facts),
      fires,
      lasts: 1,
    });
    const timelines = TOLD_WITH.flatMap(([name, parts]) =>
      parts.flatMap((part): ReadonlyArray<Timeline> => {
        const ready = { ...well, ...planted[name] };
        const notReady = { ...ready, notReady: [part] };
        const first = { ...minute(well), lasts: 5 };
        const down = minute(notReady, "ServiceNotReady");
        return [
          {
            name: `${name}, ${part} down`,
            moments: [first, minute(notReady), minute(notReady), down, down, down],
          },
          {
            name: `${name}, ${part} comes and goes`,
            moments: [
              first,
              ...[notReady, ready].map((facts) => minute(facts)),
              ...[notReady, ready, notReady, ready].map((facts) => minute(facts, name)),
            ],
          },
        ];
      }),
    );
    expect(await differences(RULES, timelines)).toBeNull();
  },
);

withPromtool("syncs that fail for one reason and then for another are told", async () => {
  const moments = (["LedgerTimeout", "LedgerUnavailable", "LedgerTimeout"] as const).map(
    (lastError, at) => ({
      samples: samplesOf({ ...well, activity: { ...well.activity, lastError } }),
      fires: at < 2 ? [] : ["IndexSyncFailing"],
      lasts: 1,
    }),
  );
  expect(await differences(RULES, [{ name: "reasons", moments }])).toBeNull();
});

withPromtool("a state whose alert is left out is noticed", async () => {
  const { DiskAlmostFull } = planted;
  const samples = samplesOf({ ...well, ...DiskAlmostFull });
  const silent = await differences(RULES, [{ name: "silent", moments: [{ samples, fires: [] }] }]);
  expect(silent).toContain("DiskAlmostFull");
});

/** Seconds since a witness cosigned; never as long ago as the alert's own wait around its hour. */
const age = fc.oneof(fc.integer({ min: 0, max: 3000 }), fc.integer({ min: 3601, max: 90_000 }));
const names = fc.subarray(["one", "two", "three"]);
const logState = fc.record({
  size: fc.option(fc.integer({ min: 1, max: 5 })),
  publishedSize: fc.option(fc.integer({ min: 0, max: 5 })),
  hindrance: fc.option(fc.constantFrom("quorum_missing" as const, "nodes_disagree" as const)),
  cosignatures: fc.uniqueArray(
    fc.record({
      name: fc.constantFrom("one", "two", "three"),
      time: age.map((seconds) => BigInt(NOW_MS / 1000 - seconds)),
    }),
    { selector: ({ name }) => name },
  ),
  missingWitnesses: names,
});
/** Figures on both sides of every bound, in any mixture, and what is not known. */
const anyFacts = fc
  .record({
    notReady: fc.subarray([...NOT_READY_PARTS]),
    lagSlots: fc.option(fc.bigInt({ min: 740n, max: 760n })),
    lastError: fc.option(fc.constantFrom("LedgerTimeout" as const, "StoreUnavailable" as const)),
    snapshotFailures: fc.integer({ min: 0, max: 1 }),
    isContradicted: fc.boolean(),
    nodes: fc.array(fc.boolean(), { maxLength: 3 }),
    pending: fc.integer({ min: 798, max: 803 }),
    isUnrecorded: fc.boolean(),
    oldestAgeMs: fc.option(fc.integer({ min: 299_990, max: 300_010 })),
    log: fc.option(logState),
    webhooks: fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 3_599_990, max: 3_600_010 })), {
      maxLength: 1,
    }),
    policyProblem: fc.option(fc.constant("a file cannot be used")),
    streamProblem: fc.option(fc.constant("the NATS server: timeout")),
    disk: fc.option(fc.record({ freeBytes: fc.integer({ min: 8, max: 12 }) })),
  })
  .map((drawn): OperatorFacts => ({
    ...well,
    notReady: drawn.notReady,
    index: { ...well.index, lagSlots: drawn.lagSlots },
    activity: {
      ...well.activity,
      lastError: drawn.lastError,
      snapshotFailures: drawn.snapshotFailures,
      contradiction: drawn.isContradicted
        ? (planted.IndexHistoryContradicted.activity?.contradiction ?? null)
        : null,
    },
    nodes: drawn.nodes.map((isPaused, place) => ({ ...node(isPaused), place })),
    relay: {
      ...well.relay,
      pending: drawn.pending,
      unrecorded: drawn.isUnrecorded ? { fault: null } : null,
      oldestAgeMs: drawn.oldestAgeMs,
    },
    policyProblem: drawn.policyProblem,
    log: drawn.log && { ...log, ...drawn.log },
    webhooks: drawn.webhooks.map(([isEnded, failingMs]) => webhook(isEnded, failingMs)),
    logStream: drawn.streamProblem === null ? null : { behind: null, problem: drawn.streamProblem },
    host: drawn.disk && {
      stores: [],
      residentBytes: 1,
      disk: { ...drawn.disk, sizeBytes: 100 },
    },
  }));

withPromtool("Prometheus alerts on what the page warns of, in any state", async () => {
  const batch = fc.array(anyFacts, { minLength: 20, maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(batch, async (states) => {
      const timelines = states.map((facts, at) => timelineOf(`state ${at}`, facts));
      expect(await differences(RULES, timelines)).toBeNull();
    }),
    runs(3),
  );
});
