import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { escrowCursor } from "../../adapters/http/request/page-cursor.ts";
import { networkIdOf, networkLeaf } from "../../core/log/leaf/event-leaf.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { serverPrograms, startCluster } from "../adapters/postgres/temporary-cluster.ts";
import { until } from "../app/support/running-service.ts";
import { MAIN, startServiceProcess } from "../app/support/service-process.ts";
import { environmentOn } from "../chaos/support/service-environment.ts";
import { walletOf } from "../simulation/world-escrow.ts";
import { cpuSecondsOf, startChild } from "./support/child.ts";
import { load } from "./support/load.ts";
import { report, sizeOf, times } from "./support/report.ts";

const ESCROWS = sizeOf({ quick: 1000, long: 10_000 });
const ROUNDS = sizeOf({ quick: 3, long: 8 });
const SECONDS = sizeOf({ quick: 2, long: 5 });
/** Connections a worker: one that has more of them does more at each turn of its loop, for less CPU time a request. */
const CONNECTIONS = 32;
/** Requests that each worker answers before it is measured, so that its code is compiled. */
const WARM = sizeOf({ quick: 1000, long: 5000 });
/** What a request may cost with two workers, of what it costs with one. */
const MOST_CPU = 1.1;
/** How many times the rate of one worker two must come to, where there are cores for them and their clients. */
const LEAST_RATE = 1.8;
const CORES_NEEDED = 4;

const programs = serverPrograms();
if (programs === undefined) {
  process.stderr.write("PostgreSQL is not installed: nothing is measured.\n");
  process.exit(0);
}
const folder = mkdtempSync(join(tmpdir(), "settlement-bench-"));
const cluster = await startCluster(programs);
const node = await startChild(`${import.meta.dir}/support/servers/serve-world.ts`, String(ESCROWS));
const rpcUrl = await node.line();

/** A service of so many workers on the same database; its index is whole when it is there. */
const startOf = async (workers: number) => {
  const many = "1000000";
  const service = startServiceProcess(
    {
      ...environmentOn(rpcUrl, join(folder, String(workers))),
      DATABASE_URL: cluster.url,
      WORKERS: String(workers),
      LOG_LEVEL: "info",
      RATE_LIMIT_READS: many,
      RATE_LIMIT_SYNC: many,
      SYNC_INTERVAL_SECONDS: "0",
    },
    MAIN,
  );
  const url = await service.url;
  const sync = () => fetch(`${url}/v1/indexer/sync`, { method: "POST" }).then(({ ok }) => ok);
  await until("the index is whole", sync, (isWhole) => isWhole, 120);
  const children = `/proc/${service.pid}/task/${service.pid}/children`;
  /** CPU seconds so far of all its processes. */
  const cpu = (): number =>
    [service.pid, ...readFileSync(children, "utf8").trim().split(" ").filter(Boolean).map(Number)]
      .map(cpuSecondsOf)
      .reduce((sum, seconds) => sum + seconds, 0);
  const stop = async () => {
    service.kill("SIGTERM");
    await service.ended;
  };
  return { url, cpu, stop };
};

// Pages behind one number and then another, so that each is read from the database.
const cursor = escrowCursor(
  networkIdOf(networkLeaf(walletOf("genesis"), LOCAL_DEPLOYMENT.custodyProgram)),
);
const places = Array.from({ length: ESCROWS - 60 }, (_, at) =>
  cursor.encode(BigInt(60 + ((at * 7919) % (ESCROWS - 60)))),
);
const pathOf = (number: number) => `/v1/indexer?limit=50&cursor=${places[number % places.length]}`;

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

const one = await startOf(1);
const two = await startOf(2);
const services = { one: { ...one, workers: 1 }, two: { ...two, workers: 2 } } as const;
type Name = keyof typeof services;
/** Of each: CPU seconds, seconds and answers of its rounds, their rates, and the same at rest while the other one worked. */
const measured = {
  one: { cpu: 0, seconds: 0, answers: 0, rates: new Array<number>(), restCpu: 0, restSeconds: 0 },
  two: { cpu: 0, seconds: 0, answers: 0, rates: new Array<number>(), restCpu: 0, restSeconds: 0 },
};

const ask = (name: Name) =>
  load(services[name].url, (at) => ({ path: pathOf(at) }), {
    connections: CONNECTIONS * services[name].workers,
    seconds: SECONDS,
    warmUpSeconds: 0,
  });
const round = async (name: Name, other: Name) => {
  const begun = { own: services[name].cpu(), other: services[other].cpu(), ms: performance.now() };
  const { answers, perSecond } = await ask(name);
  const seconds = (performance.now() - begun.ms) / 1000;
  const [own, resting] = [measured[name], measured[other]];
  own.cpu += services[name].cpu() - begun.own;
  own.seconds += seconds;
  own.answers += answers;
  own.rates.push(perSecond);
  resting.restCpu += services[other].cpu() - begun.other;
  resting.restSeconds += seconds;
};
for (const name of ["one", "two"] as const)
  for (let answers = 0; answers < WARM * services[name].workers;)
    answers += (await ask(name)).answers;
// Both take turns, so that other load on the machine affects both.
for (let at = 0; at < ROUNDS; at++) {
  await round("one", "two");
  await round("two", "one");
}
await one.stop();
await two.stop();
await node.stop();
await cluster.stop();
rmSync(folder, { recursive: true });

/** CPU milliseconds a second at rest. */
const restOf = ({ restCpu, restSeconds }: (typeof measured)[Name]) =>
  (restCpu * 1000) / restSeconds;
/** CPU milliseconds a request, without what the processes use at rest. */
const costOf = (of: (typeof measured)[Name]) =>
  (of.cpu * 1000 - restOf(of) * of.seconds) / of.answers;
const cpu = { one: costOf(measured.one), two: costOf(measured.two) };
const rate = { one: median(measured.one.rates), two: median(measured.two.rates) };
report({
  name: "a page of 50 from PostgreSQL, CPU with one worker",
  goal: "",
  figure: cpu.one,
  unit: "ms",
  ratio: `${restOf(measured.one).toFixed(0)} ms a second at rest`,
  pass: null,
});
report({
  name: "the same with two workers",
  goal: `<= ${MOST_CPU}x one worker`,
  figure: cpu.two,
  unit: "ms",
  ratio: `${(cpu.two / cpu.one).toFixed(2)}x; ${restOf(measured.two).toFixed(0)} ms a second at rest`,
  pass: cpu.two / cpu.one <= MOST_CPU,
});
const cores = availableParallelism();
report({
  name: `pages with two workers, ${CONNECTIONS} connections each`,
  goal: `>= ${LEAST_RATE}x one worker on ${CORES_NEEDED} cores`,
  figure: rate.two,
  unit: "/s",
  ratio: `${times(rate.two, rate.one)} on ${cores} cores, load ${loadavg()[0]?.toFixed(0)}`,
  pass: cores < CORES_NEEDED ? null : rate.two / rate.one >= LEAST_RATE,
});
