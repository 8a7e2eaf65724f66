import { describe, expect, test } from "bun:test";
import { runDemo } from "../../app/demo/run-demo.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { spawnLedger } from "../adapters/local-ledger/ledger-process.ts";
import { databaseEnvironment, freshSchema } from "../adapters/postgres/test-database.ts";
import { temporaryDirectory, until } from "./support/running-service.ts";
import { type ServiceProcess, startServiceProcess } from "./support/service-process.ts";
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
      startServiceProcess({
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
      // One of the three services syncs. The demo asks each of them for a sync, and its own writes are in all of them.
      for (const [at, service] of replicas.entries()) {
        const { released } = await runDemo(await service.url, silentNarrator);
        const next = replicas[(at + 1) % replicas.length] ?? service;
        const listed = await get(next, `/v1/indexer?state=Fulfilled&limit=500`);
        expect(listed?.data.map((row) => row["escrow_pda"])).toContain(released);
        service.kill("SIGKILL");
        await service.ended;
        expect(await sync(next)).toBe(202);
        replicas[at] = replica();
      }
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
    // Three demos and seven services come one after the other, which takes a slow machine minutes.
  }, 600_000);
});
