import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { Redacted } from "effect";
import { readCommandLine } from "../../app/command-line/command-line.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { spawnLedger } from "../adapters/local-ledger/ledger-process.ts";
import { hasPooler, startPooler } from "../adapters/postgres/pooler.ts";
import { serverPrograms } from "../adapters/postgres/temporary-cluster.ts";
import { quietEnvironment, temporaryDirectory, until } from "../app/support/running-service.ts";
import { MAIN, type ServiceProcess, startServiceProcess } from "../app/support/service-process.ts";
import { runSeed, seededRandom } from "../arbitraries/seeded-random.ts";
import { DatabasePair } from "./database-pair.ts";
import { hasBalancer, startBalancer } from "./haproxy.ts";
import { History } from "./history.ts";
import { leaseLoad } from "./lease-load.ts";
import { checkHistories } from "./porcupine.ts";
import { relayLoad } from "./relay-load.ts";

const HELP = `Three replicas behind HAProxy, on PostgreSQL behind PgBouncer with a streaming standby that commits wait for, all started
here with the files of ops/. The primary is killed under load, and the standby takes its place or it starts again. No
acknowledged relay may be lost, and the histories of relays, idempotency keys and a lease must be linearizable
(porcupine; without Go that is not checked, and said). Also told: CPU time a relay with one replica and with three.

usage: bun run test:more replicas [--quick] [--kills N] [--seed N]

  --quick    2 kills, and no CPU time
  --kills N  how many kills   (20)
  --seed N   another schedule   (the time)
  --help     this text

Needs PostgreSQL, PgBouncer and HAProxy. Ends with 1 when something is lost, wrong, or late.
`;

const { values } = readCommandLine(HELP, {
  quick: { type: "boolean", default: false },
  kills: { type: "string" },
  seed: { type: "string" },
});
const KILLS = Number(values.kills ?? (values.quick ? 2 : 20));
/** Relays for the CPU time, of each replica. */
const MEASURED = 200;
/** What a relay may cost with three replicas, of what it costs with one. */
const MOST_CPU = 1.1;
/** From the kill to the end of the first relay that began after it. */
const LONGEST_MS = 5000;
/** How long there is no primary before the replicas are asked for what the standby holds. */
const OUTAGE_MS = 4000;
const CLIENTS = 4;
const seed = runSeed(values.seed);
const random = seededRandom(seed);

const programs = serverPrograms();
if (programs === undefined || !hasPooler() || !hasBalancer()) {
  process.stderr.write("Debian and Ubuntu: apt-get install postgresql pgbouncer haproxy\n");
  process.exit(1);
}

let failed = 0;
let passed = 0;
const beganMs = performance.now();
/** Says how far it is, with the seconds since it began. */
const note = (what: string): void =>
  console.log(`${((performance.now() - beganMs) / 1000).toFixed(1)} s: ${what}`);
const tell = (isRight: boolean, what: string): void => {
  if (isRight) passed += 1;
  else failed += 1;
  console.log(`(${isRight ? "pass" : "fail"}) ${what}`);
};

/** Clock ticks a second in /proc (proc(5), sysconf(_SC_CLK_TCK)); 100 on every Linux that Bun runs on. */
const TICKS = 100;
/** CPU time of processes so far, milliseconds. */
const cpuOf = (services: ReadonlyArray<ServiceProcess>): number =>
  services.reduce((sum, { pid }) => {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    return sum + ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS;
  }, 0);

/** When the first relay that began after a time has succeeded. One more begins every 200 ms until then. */
const firstSuccess = async (
  load: ReturnType<typeof relayLoad>,
  afterMs: number,
): Promise<number> => {
  const probes: Array<Promise<void>> = [];
  for (;;) {
    const success = load.successes.find(([began]) => began > afterMs);
    if (success !== undefined) {
      await Promise.all(probes);
      return success[1];
    }
    if (performance.now() - afterMs > 60_000) throw new Error("no relay succeeds any more");
    probes.push(load.probe());
    await Bun.sleep(200);
  }
};

const directory = await temporaryDirectory();
const stops: Array<() => Promise<unknown>> = [() => directory.remove()];
const stopAll = async (): Promise<void> => {
  for (const stop of stops.splice(0).toReversed()) await stop();
};
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => void stopAll().then(() => process.exit(1)));

const run = async (): Promise<void> => {
  const pair = new DatabasePair(programs);
  stops.push(() => pair.stop());
  const ledger = await spawnLedger(join(directory.path, "ledger"));
  stops.push(async () => {
    ledger.child.kill();
    await ledger.child.exited;
  });
  await pair.start();
  const pooler = await startPooler(pair.url);
  stops.push(() => pooler.stop());
  pooler.moveTo(pair.primaryPort, pair.standbyPort);

  const start = async (name: string, more: Readonly<Record<string, string>> = {}) => {
    const service = startServiceProcess(
      {
        ...quietEnvironment(join(directory.path, name)),
        LOG_LEVEL: "info",
        DATABASE_URL: pooler.url,
        DATABASE_READ_URL: pooler.standbyUrl,
        SOLANA_RPC_URL: ledger.ready.rpc_url,
        CUSTODY_PROGRAM_ID: LOCAL_DEPLOYMENT.custodyProgram,
        ATTESTOR_PROGRAM_ID: LOCAL_DEPLOYMENT.attestorProgram,
        EVIDENCE_SIGNING_KEY: Buffer.alloc(32, 7).toString("base64"),
        SYNC_INTERVAL_SECONDS: "2",
        TRUSTED_PROXIES: "127.0.0.1",
        RATE_LIMIT_RELAY: "1000000",
        RATE_LIMIT_READS: "1000000",
        ...more,
      },
      MAIN,
    );
    stops.push(async () => {
      service.kill("SIGTERM");
      const { stdout, stderr, code } = await service.ended;
      if (code !== 0)
        console.log(`${name} ended with ${code}: ${stdout.slice(-4000)}${stderr.slice(-4000)}`);
    });
    const url = await service.url;
    const isReady = () => fetch(`${url}/ready`).then(({ ok }) => ok);
    await until("a replica is ready", isReady, (ready) => ready, 120);
    return { service, url };
  };

  note("primary, standby, PgBouncer and ledger are there");
  const history = new History();
  const first = await start("replica-1");
  const alone = relayLoad(first.url, ledger.ready.rpc_url, history, seed);
  await alone.prepare();
  /** CPU milliseconds a relay, without what the processes use at rest. */
  const cost = async (services: ReadonlyArray<ServiceProcess>, load: typeof alone) => {
    await load.relayMany(MEASURED * services.length);
    const restBegan = [performance.now(), cpuOf(services)] as const;
    await Bun.sleep(10_000);
    const restRate = (cpuOf(services) - restBegan[1]) / (performance.now() - restBegan[0]);
    const began = [performance.now(), cpuOf(services)] as const;
    await load.relayMany(MEASURED * services.length);
    const used = cpuOf(services) - began[1] - restRate * (performance.now() - began[0]);
    return used / (MEASURED * services.length);
  };
  note("one replica is there");
  const ofOne = values.quick ? null : await cost([first.service], alone);

  // The first primary is soon gone, and with it what this replica is told.
  const second = await start("replica-2", { DATABASE_DIRECT_URL: pair.url });
  const third = await start("replica-3");
  const replicas = [first, second, third];
  const services = replicas.map(({ service }) => service);
  const balancer = await startBalancer(replicas.map(({ url }) => url));
  stops.push(() => balancer.stop());
  note("three replicas are there");
  const load = relayLoad(balancer.url, ledger.ready.rpc_url, history, seed + 1);
  if (ofOne !== null) {
    const ofThree = await cost(services, load);
    const ratio = ofThree / ofOne;
    tell(
      ratio <= MOST_CPU,
      `CPU a relay: ${ofOne.toFixed(2)} ms with one replica, ${ofThree.toFixed(2)} ms with three: ${ratio.toFixed(2)} of it, ${MOST_CPU} is allowed`,
    );
  }

  const leaseUrl = new URL(pooler.url);
  leaseUrl.searchParams.set("schema", "lease_history");
  const stopLeases = await leaseLoad({ url: Redacted.make(leaseUrl), directUrl: null }, history);
  const stopLoad = load.start(CLIENTS);

  // Longer than PgBouncer and HAProxy take to notice.
  await Bun.sleep(1000);
  await pair.untilInStep();
  await pair.killPrimary();
  await Bun.sleep(OUTAGE_MS);
  const statuses = await Promise.all(
    replicas.flatMap(({ url }) =>
      ["/ready", "/v1/indexer/events?limit=5"].map((path) =>
        fetch(`${url}${path}`).then(({ status }) => status),
      ),
    ),
  );
  await pair.restartPrimary();
  tell(
    statuses.every((status) => status === 200),
    `after ${OUTAGE_MS} ms without a primary the replicas answer ${statuses.join(", ")} for /ready and a page of events`,
  );

  const waits: Array<number> = [];
  for (let kill = 1; kill <= KILLS; kill++) {
    await Bun.sleep(500 + 1500 * random());
    await pair.untilInStep();
    const isPromoted = random() < 0.7;
    const killedAt = performance.now();
    await pair.killPrimary();
    const succeeded = firstSuccess(load, killedAt);
    if (isPromoted) {
      await pair.promote();
      pooler.moveTo(pair.primaryPort, pair.standbyPort);
    } else await pair.restartPrimary();
    const movedAt = performance.now();
    const wait = (await succeeded) - killedAt;
    waits.push(wait);
    note(
      `kill ${kill}: ${isPromoted ? "promoted" : "restarted"} in ${Math.round(movedAt - killedAt)} ms, first relay after ${Math.round(wait)} ms`,
    );
    if (isPromoted) {
      await pair.addStandby();
      pooler.moveTo(pair.primaryPort, pair.standbyPort);
    }
  }
  await Bun.sleep(1000);
  await stopLoad();
  await stopLeases();

  await using sql = new SQL(pair.url, {
    max: 1,
    connection: { search_path: "settlement_evidence" },
  });
  const rows = await sql.unsafe<ReadonlyArray<{ signature: string }>>(
    "SELECT signature FROM relay",
  );
  const kept = new Set(rows.map(({ signature }) => signature));
  const acknowledged = [alone.measured, load.measured, load.acknowledged].flat();
  const lost = acknowledged.filter((signature) => !kept.has(signature));
  const refused = [...load.refusals].map(([status, count]) => `${count} of ${status}`).join(", ");
  tell(
    lost.length === 0,
    `${acknowledged.length} relays acknowledged, ${lost.length} lost; refusals: ${refused || "none"}`,
  );
  const slowest = Math.max(...waits);
  tell(
    slowest <= LONGEST_MS,
    `${KILLS} kills of the primary, first relay after ${Math.round(slowest)} ms at most, ${LONGEST_MS} are allowed`,
  );
  const reads = await Promise.all(
    replicas.map(async ({ url }) => (await fetch(`${url}/metrics`)).text()),
  );
  const fromStandby = reads.reduce(
    (sum, text) =>
      sum + Number(/index_page_reads_total\{from="standby"\} (\d+)/.exec(text)?.[1] ?? 0),
    0,
  );
  const stale = load.pages.filter(({ beganMs: began, slot }) =>
    load.pages.some((earlier) => earlier.endedMs < began && earlier.slot > slot),
  );
  tell(
    fromStandby > 0 && stale.length === 0,
    `${fromStandby} reads of the standby; of ${load.pages.length} pages ${stale.length} are older than one that was read before`,
  );

  const checked = await checkHistories(history.operations, directory.path);
  if (checked === null)
    console.log("skipped: Go is not on the PATH, and no history was checked for linearizability");
  else
    tell(
      checked.isRight,
      `${history.operations.length} operations are linearizable\n${checked.said.trim()}`,
    );
};

try {
  await run();
} catch (cause) {
  tell(false, cause instanceof Error ? (cause.stack ?? cause.message) : String(cause));
} finally {
  await stopAll();
}
console.log(`\nseed ${seed}\n\n ${passed} pass\n ${failed} fail`);
process.exit(failed === 0 ? 0 : 1);
