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
const ROUNDS = sizeOf({ quick: 3, long: 6 });
const SECONDS = sizeOf({ quick: 2, long: 5 });
/** Connections a worker: one that has more of them does more at each turn of its loop, for less CPU time a request. */
const CONNECTIONS = 32;
/** How long both do nothing before they are measured. */
const REST_MS = 10_000;
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

/** A service with this number of workers on the same database. It only answers, and syncs when it is asked to. */
const startOf = async (workers: number) => {
  const many = "1000000";
  const service = startServiceProcess(
    {
      ...environmentOn(rpcUrl, join(folder, crypto.randomUUID())),
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

// Whoever builds the index goes on to search old transactions, so it is not one of those that are measured.
const builder = await startOf(1);
const sync = () => fetch(`${builder.url}/v1/indexer/sync`, { method: "POST" }).then(({ ok }) => ok);
await until("the index is whole", sync, (isWhole) => isWhole, 120);
await builder.stop();
const one = await startOf(1);
const two = await startOf(2);
for (const { url } of [one, two, two, two, two]) {
  const ready = () => fetch(`${url}/ready`, { keepalive: false }).then(({ ok }) => ok);
  await until("a service is ready", ready, (isReady) => isReady, 120);
}
const services = { one: { ...one, workers: 1 }, two: { ...two, workers: 2 } } as const;
type Name = keyof typeof services;

const ask = (name: Name) =>
  load(services[name].url, (at) => ({ path: pathOf(at) }), {
    connections: CONNECTIONS * services[name].workers,
    seconds: SECONDS,
    warmUpSeconds: 0,
  });
/** What each has answered, and CPU seconds and seconds of both, while `work` ran. */
const during = async (work: () => Promise<Readonly<Record<Name, number>>>) => {
  const [first, second, ms] = [one.cpu(), two.cpu(), performance.now()];
  const answers = await work();
  const seconds = (performance.now() - ms) / 1000;
  return { answers, seconds, cpu: { one: one.cpu() - first, two: two.cpu() - second } };
};
const askBoth = async () => {
  const [first, second] = await Promise.all([ask("one"), ask("two")]);
  return { one: first.answers, two: second.answers };
};
for (let least = 0; least < WARM;) {
  const answers = await askBoth();
  least += Math.min(answers.one, answers.two / 2);
}
const atRest = await during(async () => {
  await Bun.sleep(REST_MS);
  return { one: 0, two: 0 };
});
// Both are asked at the same time, because a busy machine makes a request dearer, whoever answers it.
const atWork = await during(async () => {
  const sums = { one: 0, two: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    const answers = await askBoth();
    sums.one += answers.one;
    sums.two += answers.two;
  }
  return sums;
});
// Each alone, in turns.
const rates = { one: new Array<number>(), two: new Array<number>() };
for (let round = 0; round < ROUNDS; round++)
  for (const name of ["one", "two"] as const) rates[name].push((await ask(name)).perSecond);
await one.stop();
await two.stop();
await node.stop();
await cluster.stop();
rmSync(folder, { recursive: true });

/** CPU milliseconds a second at rest. */
const restOf = (name: Name) => (atRest.cpu[name] * 1000) / atRest.seconds;
/** CPU milliseconds a request, without what the processes use at rest. */
const costOf = (name: Name) =>
  (atWork.cpu[name] * 1000 - restOf(name) * atWork.seconds) / atWork.answers[name];
const cpu = { one: costOf("one"), two: costOf("two") };
const rate = { one: median(rates.one), two: median(rates.two) };
report({
  name: "a page of 50 from PostgreSQL, CPU with one worker",
  goal: "",
  figure: cpu.one,
  unit: "ms",
  ratio: `${restOf("one").toFixed(0)} ms a second at rest`,
  pass: null,
});
report({
  name: "the same with two workers, at the same time",
  goal: `<= ${MOST_CPU}x one worker`,
  figure: cpu.two,
  unit: "ms",
  ratio: `${(cpu.two / cpu.one).toFixed(2)}x; ${restOf("two").toFixed(0)} ms a second at rest`,
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
