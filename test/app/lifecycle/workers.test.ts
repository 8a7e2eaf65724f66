import { afterAll, expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { serialize } from "node:v8";
import { Effect } from "effect";
import { createHttpApp } from "../../../adapters/http/server/http-app.ts";
import { joinedMetrics, serveWorkerMetrics } from "../../../app/workers/worker-metrics.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import {
  type OperatorFacts,
  readOperatorFacts,
} from "../../../core/use-cases/service/operator-facts.ts";
import { plantedFacts } from "../../adapters/http/operator/planted-facts.ts";
import { standing } from "../../adapters/http/support/standing-service.ts";
import {
  freePort,
  quietEnvironment,
  temporaryDirectory,
  until,
} from "../support/running-service.ts";
import { type ServiceProcess, startShortLivedService } from "../support/service-process.ts";

const { service: standingService } = await standing();
const started: Array<ServiceProcess> = [];
const directory = await temporaryDirectory();
afterAll(async () => {
  for (const service of started) service.kill("SIGKILL");
  await Promise.all(started.map(({ ended }) => ended));
  await directory.remove();
});

/** Two workers, whose database and node are away: they serve what needs neither. */
const startTwo = (more: Readonly<Record<string, string>> = {}, script?: string): ServiceProcess => {
  const env = {
    ...quietEnvironment(`${directory.path}/${started.length}`),
    LOG_LEVEL: "info",
    WORKERS: "2",
    DATABASE_URL: "postgres://nobody@127.0.0.1:1/nothing",
    SOLANA_RPC_URL: "http://127.0.0.1:2",
    CUSTODY_PROGRAM_ID: LOCAL_DEPLOYMENT.custodyProgram,
    ATTESTOR_PROGRAM_ID: LOCAL_DEPLOYMENT.attestorProgram,
    ...more,
  };
  const service = startShortLivedService(env, script);
  started.push(service);
  return service;
};

/** The process ids of the workers that live. */
const workersOf = ({ pid }: ServiceProcess): ReadonlyArray<number> =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").map(Number);

const areGone = (pids: ReadonlyArray<number>) =>
  until(
    "no worker is left",
    async () => pids.filter((pid) => existsSync(`/proc/${pid}`)),
    (left) => left.length === 0,
    120,
  );

const CLIENTS = 4;

/** Clients that open a connection for each request, until they are stopped. */
const startClients = (url: string) => {
  const stopped = new AbortController();
  const lost: Array<number> = [];
  const client = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      // They leave the machine to the workers.
      await Bun.sleep(5);
      const beganMs = performance.now();
      const answer = await fetch(`${url}/health`, { keepalive: false }).catch(() => null);
      if (answer === null) lost.push(beganMs);
      else expect(answer.status).toBe(200);
    }
  };
  const ended = Promise.all(Array.from({ length: CLIENTS }, client));
  return {
    /** When each request began that got no answer. */
    stop: async (): Promise<ReadonlyArray<number>> => {
      stopped.abort();
      await ended;
      return lost;
    },
  };
};

test.concurrent.if(process.platform === "linux")(
  "two workers answer at one port, one that is killed has a successor and loses only its own requests, and SIGTERM drains both",
  async () => {
    const metricsPort = freePort();
    const service = startTwo({ METRICS_PORT: String(metricsPort) });
    const url = await service.url;
    const metricsUrl = `http://127.0.0.1:${metricsPort}`;
    const clients = startClients(url);
    /** The numbers of the workers that have answered a client. */
    const answering = async () => {
      const text = await (await fetch(`${metricsUrl}/metrics`)).text();
      const samples = text.matchAll(/^settlement_evidence_http_requests_total\{(.*)\} /gm);
      const health = [...samples].filter(([, labels = ""]) => labels.includes('route="/health"'));
      return new Set(health.map(([, labels = ""]) => /worker="(\d)"/.exec(labels)?.[1]));
    };
    const both = (workers: ReadonlySet<unknown>) => workers.size === 2;
    await until("both workers answer", answering, both, 120);
    expect((await fetch(`${url}/metrics`)).status).toBe(404);
    expect(await (await fetch(metricsUrl)).text()).toContain("<html");

    const [killed = 0] = workersOf(service);
    process.kill(killed, "SIGKILL");
    await areGone([killed]);
    const goneMs = performance.now();
    await until("its successor answers", answering, both, 120);
    const lost = await clients.stop();
    expect(lost.length).toBeLessThanOrEqual(CLIENTS);
    expect(lost.filter((beganMs) => beganMs > goneMs)).toEqual([]);

    const workers = workersOf(service);
    expect(workers).toHaveLength(2);
    service.kill("SIGTERM");
    const { code, stdout, stderr } = await service.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    await areGone(workers);
    const lines = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    const replaced = { message: "a worker has ended, and another one takes its place" };
    expect(lines).toContainEqual(expect.objectContaining({ ...replaced, reason: "SIGKILL" }));
    for (const worker of [{ worker: 1 }, { worker: 2 }, {}])
      expect(lines).toContainEqual(expect.objectContaining({ message: "stopped", ...worker }));
  },
  180_000,
);

test.concurrent.if(process.platform === "linux")(
  "workers end with the process that runs them when that is killed",
  async () => {
    const service = startTwo();
    await service.url;
    const workers = workersOf(service);
    expect(workers).toHaveLength(2);
    service.kill("SIGKILL");
    await areGone(workers);
    const { stdout } = await service.ended;
    expect(stdout.match(/"by":"the end of its parent"/g)).toHaveLength(2);
  },
  180_000,
);

test.concurrent("workers that cannot serve end the service with the reason", async () => {
  using taken = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
  const services = [
    startTwo({ PORT: String(taken.port) }),
    startTwo({ EVIDENCE_SIGNING_KEY_FILE: "/dev/null/key" }),
  ];
  const [samePort, noKey] = await Promise.all(services.map(({ ended }) => ended));
  expect(samePort?.code).toBe(1);
  expect(samePort?.stderr).toStartWith(`Port ${taken.port} on 127.0.0.1 is taken`);
  expect(noKey?.code).toBe(1);
  expect(noKey?.stderr).toContain("/dev/null/key");
  expect(noKey?.stderr).toEndWith("Worker 1 cannot serve, and the others end with it\n");
}, 60_000);

test.concurrent.if(process.platform === "linux")(
  "a worker whose successor cannot serve is tried on while the others serve",
  async () => {
    const path = `${directory.path}/evidence-key`;
    const key = Buffer.alloc(32, 1).toString("base64");
    writeFileSync(path, key, { mode: 0o600 });
    const service = startTwo({ EVIDENCE_SIGNING_KEY_FILE: path });
    const url = await service.url;
    const answers = async () => (await fetch(`${url}/health`, { keepalive: false })).status;
    rmSync(path);
    const [killed = 0] = workersOf(service);
    process.kill(killed, "SIGKILL");
    await areGone([killed]);
    // Each process of the successor counts, and pauses double from 50 ms on.
    const successors = new Set<number>();
    await until(
      "three successors have been tried",
      async () => {
        for (const pid of workersOf(service)) if (pid > 0) successors.add(pid);
        return successors.size;
      },
      (count) => count >= 4,
      60,
    );
    expect(await answers()).toBe(200);
    writeFileSync(path, key, { mode: 0o600 });
    service.kill("SIGTERM");
    const { code, stdout, stderr } = await service.ended;
    expect(code).toBe(0);
    expect(stderr).toContain(path);
    const reason = "it cannot serve with these settings, and has said why";
    expect(stdout).toContain(JSON.stringify(reason));
  },
  180_000,
);

test.concurrent("a worker that ends five times before it listens fails the start, which says how it ended", async () => {
  const crash = `${directory.path}/crash.ts`;
  writeFileSync(crash, 'if (process.argv.at(-1) === "2") process.kill(process.pid, "SIGKILL");\n');
  const service = startTwo({ BUN_OPTIONS: `--preload ${crash}` });
  const { code, stderr } = await service.ended;
  expect(code).toBe(1);
  expect(stderr).toBe(
    "Worker 2 has ended 5 times before it listened, last with SIGKILL, and the others end with it\n",
  );
}, 180_000);

test.concurrent("a worker that hangs before it listens is killed, which counts as an end before it listened", async () => {
  const hang = `${directory.path}/hang.ts`;
  const isWorker = 'process.argv.includes("--worker")';
  // Not for ever: it ends also where nobody kills it.
  const wait = "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 120_000)";
  writeFileSync(hang, `if (${isWorker}) ${wait};\n`);
  const script = `${directory.path}/start.ts`;
  const modules = [
    "effect",
    "../../../app/config/settings.ts",
    "../../../app/workers/start-workers.ts",
  ];
  const [effect, settings, workers] = modules.map((name) =>
    JSON.stringify(import.meta.resolve(name)),
  );
  writeFileSync(
    script,
    `import { Effect } from ${effect};
import { readSettings } from ${settings};
import { startWorkers } from ${workers};
const started = Effect.flatMap(readSettings(process.env), (read) => startWorkers(read, 200));
console.log((await Effect.runPromise(Effect.flip(Effect.scoped(started)))).message);
`,
  );
  const service = startTwo({ BUN_OPTIONS: `--preload ${hang}` }, script);
  const { stdout } = await service.ended;
  expect(stdout.trim().split("\n").at(-1)).toBe(
    "Worker 1 has ended 5 times before it listened, last with SIGKILL, because it did not listen within 0.2 s, and the others end with it",
  );
}, 180_000);

/** A worker's listener that answers as `fetch` does. */
const worker = (fetch: (request: Request) => Response | Promise<Response>) => {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch });
  return {
    metricsUrl: server.url.origin,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
};
const answers = (text: string) => worker(() => new Response(text));
const hangs = () => worker(() => new Promise<Response>(() => undefined));
/** One whose process ends in the middle of its answer. */
const ends = () => {
  const socket = {
    data: (to: Bun.Socket) => {
      to.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n# HELP a Half.\n");
      to.flush();
      to.end();
    },
  };
  const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket });
  return {
    metricsUrl: `http://127.0.0.1:${server.port}`,
    [Symbol.dispose]: () => server.stop(true),
  };
};

/** What the listener of all workers answers. */
const asked = (path: string, ...workers: ReadonlyArray<{ readonly metricsUrl: string | null }>) =>
  Effect.runPromise(
    Effect.scoped(
      Effect.flatMap(
        serveWorkerMetrics(
          new Map(workers.map((each, at) => [at + 1, each])),
          workers.length,
          { hostname: "127.0.0.1", port: 0 },
          200,
        ),
        (url) =>
          Effect.promise(async () => {
            const response = await fetch(`${url}${path}`);
            const { status, headers } = response;
            return { status, headers, text: await response.text() };
          }),
      ),
    ),
  );

test("the operator's page has the warnings of all workers once, and names the worker that hangs or cannot serve", async () => {
  const planted = plantedFacts(await standingService.runtime.runPromise(readOperatorFacts));
  const alone = createHttpApp({ context: standingService.context, serves: "metrics" });
  const telling = (more: Partial<OperatorFacts>) =>
    worker(() => new Response(new Uint8Array(serialize({ ...planted.well, ...more }))));
  await using one = telling(planted.planted.LedgerNodePaused);
  await using other = telling({
    ...planted.planted.LedgerNodePaused,
    ...planted.planted.LogStreamFailing,
  });
  await using well = telling({});
  await using whole = worker((request) => alone.handle(request));
  await using stuck = hangs();
  const shown = async (...workers: ReadonlyArray<{ readonly metricsUrl: string | null }>) => {
    const { text } = await asked("/", ...workers);
    return {
      isWell: text.includes("Nothing needs the operator now."),
      warnings: Array.from(
        text.matchAll(/<strong>(\w+)<\/strong>: (Worker \d|)/g),
        ([, name, of]) => `${name} ${of}`.trim(),
      ),
    };
  };
  expect(await shown(well, well)).toEqual({ isWell: true, warnings: [] });
  expect(await shown(well, one, other)).toEqual({
    isWell: false,
    warnings: ["LedgerNodePaused", "LogStreamFailing"],
  });
  expect(await shown(well, stuck, { metricsUrl: null })).toEqual({
    isWell: false,
    warnings: ["ServiceDown Worker 2", "ServiceDown Worker 3"],
  });
  // What a worker's own listener tells makes the page that it shows itself, but for what the moment changes.
  const timeless = (text: string) => text.replaceAll(/[\d.]+ MiB|\d+ s(econds?)? ago/g, "");
  const own = await alone.handle(new Request("http://localhost/"));
  const joined = await asked("/", whole);
  expect(timeless(joined.text)).toBe(timeless(await own.text()));
  for (const name of ["content-type", "content-security-policy", "x-content-type-options"])
    expect([name, joined.headers.get(name)]).toEqual([name, own.headers.get(name)]);
  expect(await asked("/metrics", well, { metricsUrl: null })).toMatchObject({
    status: 503,
    text: "Worker 2 does not listen.\n",
  });
});

test("a worker that hangs fails the scrape, as it would alone, and the operator's page is another one's", async () => {
  await using stuck = hangs();
  await using well = answers("b 1\n");
  const scrape = await asked("/metrics", stuck, well);
  expect(scrape).toMatchObject({ status: 503, text: "Worker 1 does not answer.\n" });
  expect(await asked("/page.css", stuck, well)).toMatchObject({ status: 200, text: "b 1\n" });
  expect(await asked("/", stuck)).toMatchObject({ status: 502, text: "No worker answers.\n" });
});

test("a worker that ends while it is asked has no samples, and hides nobody else's", async () => {
  using ended = ends();
  await using well = answers("# HELP b A gauge.\n# TYPE b gauge\nb 1\n");
  const { status, text } = await asked("/metrics", ended, well);
  expect(status).toBe(200);
  expect(text).toBe('# HELP b A gauge.\n# TYPE b gauge\nb{worker="2"} 1\n');
});

test("the metrics of several workers are one text, whose families stand together and whose samples name their worker", () => {
  const textOf = (count: number, gauge: string) =>
    `# HELP a_total Calls by kind.\n# TYPE a_total counter\na_total{kind="x # HELP"} ${count}\n# HELP b A gauge.\n# TYPE b gauge\nb ${gauge}\n`;
  expect(
    joinedMetrics(
      new Map([
        [1, textOf(3, "NaN")],
        [2, `${textOf(5, "7")}# HELP c Of one.\n# TYPE c gauge\nc 1\n`],
      ]),
    ),
  ).toBe(`# HELP a_total Calls by kind.
# TYPE a_total counter
a_total{worker="1",kind="x # HELP"} 3
a_total{worker="2",kind="x # HELP"} 5
# HELP b A gauge.
# TYPE b gauge
b{worker="1"} NaN
b{worker="2"} 7
# HELP c Of one.
# TYPE c gauge
c{worker="2"} 1
`);
});
