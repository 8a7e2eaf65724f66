import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { runDemo } from "../../app/demo/run-demo.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { spawnLedger } from "../adapters/local-ledger/ledger-process.ts";
import { databaseEnvironment, freshSchema } from "../adapters/postgres/test-database.ts";
import { freePort, temporaryDirectory, until } from "./support/running-service.ts";
import { type ServiceProcess, startShortLivedService } from "./support/service-process.ts";
import { silentNarrator } from "./commands/silent-narrator.ts";

type Body = {
  readonly data: ReadonlyArray<Readonly<Record<string, unknown>>>;
};

/** The answer of a path, null unless its status is 200. */
const get = async (service: ServiceProcess, path: string): Promise<Body | null> => {
  const response = await fetch(`${await service.url}${path}`).catch(() => null);
  return response?.status === 200 ? ((await response.json()) as Body) : null;
};

const sync = async (service: ServiceProcess): Promise<number> =>
  (await fetch(`${await service.url}/v1/indexer/sync`, { method: "POST" })).status;

/** Everything that readers of an index see, except the order in which this store found the events. */
const contents = async (service: ServiceProcess) => {
  const lists = await Promise.all(
    [
      "/v1/indexer?limit=500",
      "/v1/indexer/events?limit=500",
      "/v1/registry/merchants?limit=500",
    ].map((path) => get(service, path)),
  );
  const [escrows, events, merchants] = lists.map((body) => body?.data ?? []);
  const inAnyOrder = events
    ?.map(({ position: _p, chain_hash: _c, ...event }) => event)
    .toSorted((a, b) => String(a["id"]).localeCompare(String(b["id"])));
  return { escrows, merchants, events: inAnyOrder };
};

describe("three services share one database", () => {
  test("three services share one database: each serves and syncs, any may be killed, and all show what one alone would", async () => {
    const directory = await temporaryDirectory();
    const ledger = await spawnLedger(`${directory.path}/ledger`);
    const start = (name: string, env: Readonly<Record<string, string>>) =>
      startShortLivedService({
        PORT: "0",
        DATA_DIR: `${directory.path}/${name}`,
        SOLANA_RPC_URL: ledger.ready.rpc_url,
        CUSTODY_PROGRAM_ID: LOCAL_DEPLOYMENT.custodyProgram,
        ATTESTOR_PROGRAM_ID: LOCAL_DEPLOYMENT.attestorProgram,
        EVIDENCE_SIGNING_KEY: Buffer.alloc(32, 7).toString("base64"),
        SYNC_INTERVAL_SECONDS: "1",
        LOG_LEVEL: "info",
        ...env,
      });
    const shared = databaseEnvironment(freshSchema());
    let started = 0;
    const replica = () => start(`replica-${++started}`, shared);
    const replicas = [replica(), replica(), replica()];
    const alone = start("alone", {});
    try {
      const everyone = [...replicas, alone];
      for (const service of everyone)
        await until(
          "a service is ready",
          () => get(service, "/ready"),
          (body) => body !== null,
        );
      // One of the three services syncs. The demo asks its own for a sync, and what it wrote is in all of them.
      const demonstrated = async (at: number): Promise<void> => {
        const { released } = await runDemo((await replicas[at]?.url) ?? "", silentNarrator);
        const next = replicas[(at + 1) % replicas.length];
        const listed = next && (await get(next, `/v1/indexer?state=Fulfilled&limit=500`));
        expect(listed?.data.map((row) => row["escrow_pda"])).toContain(released);
      };
      const replaced = async (at: number): Promise<void> => {
        const service = replicas[at];
        service?.kill("SIGKILL");
        await service?.ended;
        const next = replicas[(at + 1) % replicas.length];
        expect(next && (await sync(next))).toBe(202);
        replicas[at] = replica();
      };
      // A demo waits for finality most of the time, so two run at once, and the third behind their services' kills.
      await Promise.all([demonstrated(0), demonstrated(1)]);
      await replaced(0);
      await replaced(1);
      await demonstrated(2);
      await replaced(2);
      for (const service of [...replicas, alone]) expect(await sync(service)).toBe(202);
      const expected = await contents(alone);
      expect(expected.escrows).toHaveLength(6);
      expect(expected.events).toHaveLength(12);
      for (const service of replicas)
        expect(
          await until(
            "the same rows",
            () => contents(service),
            (found) => Bun.deepEquals(found, expected),
          ),
        ).toEqual(expected);
    } finally {
      for (const service of [...replicas, alone]) service.kill("SIGTERM");
      await Promise.all([...replicas, alone].map(({ ended }) => ended));
      ledger.child.kill();
      await ledger.child.exited;
      await directory.remove();
    }
    // Seven services start, which takes a slow machine minutes.
  }, 600_000);
});

/** The process of a service's worker. */
const workerOf = ({ pid }: ServiceProcess, number: string): number => {
  const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  const ended = `\0--worker\0${number}\0`;
  const found = pids.find((each) => readFileSync(`/proc/${each}/cmdline`, "utf8").endsWith(ended));
  return Number(found);
};

test.if(process.platform === "linux")(
  "two workers share a data directory and a log: when the one that syncs and publishes is killed, the other goes on with both",
  async () => {
    const directory = await temporaryDirectory();
    const ledger = await spawnLedger(`${directory.path}/ledger`);
    const metricsPort = freePort();
    const service = startShortLivedService({
      PORT: "0",
      METRICS_PORT: String(metricsPort),
      WORKERS: "2",
      DATA_DIR: `${directory.path}/data`,
      SOLANA_RPC_URL: ledger.ready.rpc_url,
      CUSTODY_PROGRAM_ID: LOCAL_DEPLOYMENT.custodyProgram,
      ATTESTOR_PROGRAM_ID: LOCAL_DEPLOYMENT.attestorProgram,
      EVIDENCE_SIGNING_KEY: Buffer.alloc(32, 7).toString("base64"),
      LOG_NAME: "log.example",
      LOG_SIGNING_KEY: Buffer.alloc(32, 8).toString("base64"),
      SYNC_INTERVAL_SECONDS: "1",
      ...databaseEnvironment(freshSchema()),
    });
    try {
      const url = await service.url;
      /** The leaves of the published log; 0 before there are any. */
      const published = async (): Promise<number> => {
        const answer = await fetch(`${url}/log/checkpoint`, { keepalive: false });
        return answer.ok ? Number((await answer.text()).split("\n")[1]) : 0;
      };
      const holder = async (): Promise<string | undefined> => {
        const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
        return /index_lease_held\{worker="(\d)"\} 1$/m.exec(text)?.[1];
      };
      const before = await until("the log is published", published, (size) => size > 0);
      const killed = await until("a worker syncs", holder, (worker) => worker !== undefined);
      const pid = workerOf(service, String(killed));
      process.kill(pid, "SIGKILL");
      // Until then the system gives it connections.
      await until(
        "it is gone",
        async () => existsSync(`/proc/${pid}`),
        (isThere) => !isThere,
      );
      const { released } = await runDemo(url, silentNarrator);
      const after = await until("the log grows", published, (size) => size > before);
      // Any of them shows what any of them has relayed, and no older log.
      for (let at = 0; at < 8; at++) {
        expect(await published()).toBeGreaterThanOrEqual(after);
        const path = `${url}/v1/escrows/${released}`;
        expect((await fetch(path, { keepalive: false })).status).toBe(200);
      }
      expect(await until("a worker syncs", holder, (worker) => worker !== undefined)).toBeDefined();
    } finally {
      service.kill("SIGTERM");
      const { code, stderr } = await service.ended;
      ledger.child.kill();
      await ledger.child.exited;
      await directory.remove();
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    }
  },
  600_000,
);
