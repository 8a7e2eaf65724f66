import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { Effect, Layer } from "effect";
import { projectCommand } from "../../../core/domain/project-command.ts";
import { openLedgerDatabase } from "../../../adapters/local-ledger/runtime/ledger-database.ts";
import { indexSqlite } from "../../../adapters/sqlite/index-store.ts";
import { outcomeLogSqlite } from "../../../adapters/sqlite/relay/outcome-log.ts";
import { diagnose } from "../../../app/doctor/diagnose.ts";
import { type Address, address, addressFromBytes } from "../../../core/domain/address.ts";
import type { LedgerAccount } from "../../../core/domain/ledger/account.ts";
import { deployedProgramAccounts } from "../../../core/protocol/accounts/loader-v3.ts";
import { fieldWriter } from "../../../core/protocol/accounts/byte-fields.ts";
import {
  CLOCK_SYSVAR,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "../../../core/protocol/addresses/well-known-addresses.ts";
import packageJson from "../../../package.json" with { type: "json" };
import { TEST_DEPLOYMENT, TEST_GENESIS_HASH } from "../../arbitraries/test-ledger.ts";
import { clockData } from "../../doubles/accounts.ts";
import { custodyConfigAccount } from "../../doubles/custody-config.ts";
import { registryOf } from "../../doubles/registry.ts";
import { temporaryDirectory } from "../support/running-service.ts";
import { SILENT_ADDRESS } from "../support/silent-address.ts";

const DEVNET_GENESIS = "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG";

/** Two addresses of accounts that are nothing else here. */
const WATCHED = [71, 72].map((byte) => addressFromBytes(new Uint8Array(32).fill(byte))) as [
  Address,
  Address,
];

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let folders = 0;
beforeAll(async () => {
  directory = await temporaryDirectory();
});
afterAll(() => directory.remove());

/** A data directory of its own, without anything in it. */
const freshFolder = async (): Promise<string> => {
  const path = join(directory.path, String(++folders));
  await mkdir(path, { mode: 0o700 });
  return path;
};

type Held = Readonly<
  Record<string, (Pick<LedgerAccount, "owner" | "data"> & { readonly executable?: boolean }) | null>
>;

/** What is on a ledger of this genesis hash where both programs are deployed and initialised for each other. */
const deployed = (genesisHash: string, deployment = TEST_DEPLOYMENT): Held =>
  Object.fromEntries(
    [
      ...[deployment.custodyProgram, deployment.attestorProgram].flatMap((program) =>
        deployedProgramAccounts(
          program,
          { slot: 0n, upgradeAuthority: null, elf: new Uint8Array(8) },
          () => 1n,
        ),
      ),
      custodyConfigAccount(deployment, { count: 0n }, address(genesisHash)),
      registryOf(deployment),
    ].map((account) => [account.address, account]),
  );

/** How a node's WebSocket fails. */
type SocketFault = "refuses" | "silent";

/**
 * A node with a genesis hash, a clock that is off by some seconds (null: no time at all) and other accounts (null: not
 * there), and its WebSocket. It does not offer the methods in `unknown`.
 */
const nodeThat = (
  genesisHash: string,
  secondsFromNow: number | null,
  {
    held = {},
    unknown = [],
    socket = null,
  }: {
    readonly held?: Held;
    readonly unknown?: ReadonlyArray<string>;
    readonly socket?: SocketFault | null;
  } = {},
) =>
  Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    websocket: {
      message: (client, text) => {
        const { id, method } = JSON.parse(String(text)) as { id: number; method: string };
        if (socket === "refuses")
          return void client.send(
            JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32_601, message: "no such" } }),
          );
        client.send(JSON.stringify({ jsonrpc: "2.0", id, result: id }));
        if (method === "slotSubscribe" && socket !== "silent")
          client.send(JSON.stringify({ jsonrpc: "2.0", method: "slotNotification", params: {} }));
      },
    },
    fetch: async (request, server) => {
      if (server.upgrade(request)) return undefined;
      const { id, method, params } = (await request.json()) as {
        readonly id: number;
        readonly method: string;
        readonly params?: readonly [ReadonlyArray<string>];
      };
      if (unknown.includes(method))
        return Response.json({ jsonrpc: "2.0", id, error: { code: -32_601, message: "no" } });
      if (method === "getGenesisHash")
        return Response.json({ jsonrpc: "2.0", id, result: genesisHash });
      if (method !== "getMultipleAccounts")
        return Response.json({ jsonrpc: "2.0", id, error: { code: -32_602, message: "no" } });
      const seconds = BigInt(Math.floor(Date.now() / 1000) + (secondsFromNow ?? 0));
      const clock = { owner: SYSTEM_PROGRAM, data: clockData(seconds) };
      const all: Held = {
        ...deployed(genesisHash),
        ...(secondsFromNow === null ? {} : { [CLOCK_SYSVAR]: clock }),
        ...held,
      };
      const value = (params?.[0] ?? []).map((named) => {
        const found = all[named] ?? null;
        if (found === null) return null;
        const data = [Buffer.from(found.data).toString("base64"), "base64"];
        const { owner, executable = false } = found;
        return { lamports: 1, owner, executable, rentEpoch: 0, space: found.data.length, data };
      });
      return Response.json({ jsonrpc: "2.0", id, result: { context: { slot: 9 }, value } });
    },
  });

const remote = (url: string | URL) => ({
  SOLANA_RPC_URL: String(url),
  SOLANA_WS_URL: String(url).replace(/^http/, "ws"),
  SOLANA_CLUSTER: "localnet",
  CUSTODY_PROGRAM_ID: TEST_DEPLOYMENT.custodyProgram,
  ATTESTOR_PROGRAM_ID: TEST_DEPLOYMENT.attestorProgram,
});

/** The lines of a diagnosis: `check: text`, a problem's with `!` before it. */
const linesOf = async (env: Record<string, string>, bunVersion = packageJson.engines.bun) => {
  const own = {
    PORT: "0",
    LOCAL_LEDGER_PORT: "0",
    DATA_DIR: env["DATA_DIR"] ?? (await freshFolder()),
  };
  const findings = await Effect.runPromise(diagnose({ ...own, ...env }, bunVersion));
  return findings.map(({ check, ok, text }) => `${ok ? "" : "!"}${check}: ${text}`);
};
const problemsOf = async (...asked: Parameters<typeof linesOf>) =>
  (await linesOf(...asked)).filter((line) => line.startsWith("!"));

/** Makes both stores of a ledger in a folder, closed again. */
const makeStores = (folder: string, genesisHash: string) => {
  const options = (name: string) => ({
    path: join(folder, `${name}.sqlite`),
    genesisHash,
    deployment: TEST_DEPLOYMENT,
  });
  const stores = Layer.merge(
    indexSqlite({ ...options("index"), logFolder: join(folder, "log") }),
    outcomeLogSqlite(options("relay")),
  );
  return Effect.runPromise(Effect.scoped(Layer.build(stores)));
};

/** Every file of a folder with its bytes. */
const contentOf = async (folder: string) => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name)).sort();
  return Promise.all(paths.map(async (path) => [path, Bun.hash(await Bun.file(path).bytes())]));
};

test("a new folder and the embedded ledger have no problem", async () => {
  const folder = await freshFolder();
  expect(await linesOf({ DATA_DIR: folder })).toEqual([
    `bun: ${packageJson.engines.bun}`,
    "port: any free one",
    "node: the embedded ledger is not running; it will take any free ports",
    `data: ${folder} is writable`,
    `store: ${folder}/index.sqlite will be made`,
    `store: ${folder}/relay.sqlite will be made`,
    `store: ${folder}/log/standing.sqlite will be made`,
    `store: ${folder}/packets.sqlite will be made`,
    `store: ${folder}/local-ledger/ledger.sqlite will be made`,
  ]);
  expect(await readdir(folder)).toEqual([]);
});

test("another version of Bun is named together with the required one", async () => {
  const [line] = await problemsOf({}, "1.0.0");
  expect(line).toBe(
    `!bun: it is 1.0.0; install ${packageJson.engines.bun}, or run npx bun@${packageJson.engines.bun}`,
  );
});

test("each faulty setting is a line, and nothing else is checked", async () => {
  const lines = await linesOf({ PORT: "http", SYNC_INTERVAL_SECONDS: "-1" });
  expect(lines.slice(1)).toEqual([
    '!settings: PORT is "http"; expected a whole number from 0 to 65535',
    '!settings: SYNC_INTERVAL_SECONDS is "-1"; expected a whole number from 0 to 86400',
  ]);
});

test("a port held by another program is a problem, and a port held by this service is not", async () => {
  using other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("?") });
  using service = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => Response.json({ service: "Settlement Evidence API" }),
  });
  expect(await problemsOf({ PORT: String(other.port) })).toEqual([
    `!port: Port ${other.port} on 127.0.0.1 is taken; stop what uses it or set another PORT`,
  ]);
  expect(await linesOf({ PORT: String(service.port) })).toContain(
    `port: this service runs on ${service.port} of 127.0.0.1 already`,
  );
});

test("the port of the metrics is looked at where one is set", async () => {
  using other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("?") });
  using metrics = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) =>
      url.endsWith("/metrics")
        ? new Response("# TYPE settlement_evidence_build_info gauge\n")
        : new Response(null, { status: 404 }),
  });
  expect(await problemsOf({ METRICS_PORT: String(other.port) })).toEqual([
    `!metrics: Port ${other.port} on 127.0.0.1 is taken; stop what uses it or set another METRICS_PORT`,
  ]);
  expect(await linesOf({ METRICS_PORT: String(metrics.port) })).toContain(
    `metrics: this service runs on ${metrics.port} of 127.0.0.1 already`,
  );
  expect(await linesOf({ METRICS_PORT: "0" })).toContain("metrics: any free one");
  using lost = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response("Worker 2 does not listen.\n", { status: 503 }),
  });
  expect(await problemsOf({ METRICS_PORT: String(lost.port) })).toEqual([
    `!metrics: this service runs on ${lost.port} of 127.0.0.1 already. Worker 2 does not listen. What to do is in docs/runbook.md, ServiceDown`,
  ]);
});

test("an address that is not this machine's is a problem", async () => {
  const [line] = await problemsOf({ HOST: "192.0.2.1", PORT: "4321" });
  expect(line).toStartWith("!port: HOST 192.0.2.1, PORT 4321 cannot be listened on (");
});

test("an unreachable node is a problem, and its address is shown without its key", async () => {
  expect(await problemsOf(remote(`${SILENT_ADDRESS}/key-of-mine`))).toEqual([
    `!node: ${SILENT_ADDRESS}: getGenesisHash: unreachable. Check that the node runs and that its address in SOLANA_RPC_URL is right.`,
    `!signals: ${SILENT_ADDRESS.replace("http", "ws")}: it cannot be reached; check SOLANA_WS_URL. Without signals the index follows the ledger every SYNC_INTERVAL_SECONDS`,
  ]);
});

test("a port of the embedded ledger that another program holds is a problem", async () => {
  using other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("?") });
  const port = Number(other.port);
  expect(await problemsOf({ LOCAL_LEDGER_PORT: String(port) })).toEqual([
    `!node: port ${port} and ${port + 1} are not both free, and no ledger answers; set another LOCAL_LEDGER_PORT`,
  ]);
});

test("a ledger of another cluster is a problem", async () => {
  using node = nodeThat(DEVNET_GENESIS, 0);
  expect(await problemsOf(remote(node.url))).toEqual([
    "!genesis: the ledger is devnet by its genesis hash, but localnet is configured; set SOLANA_CLUSTER or SOLANA_RPC_URL",
  ]);
});

test.each([
  [3600, "behind"],
  [-3600, "ahead of"],
])("a ledger's time %i s from now is a problem", async (seconds, side) => {
  using node = nodeThat(TEST_GENESIS_HASH, seconds);
  const [line, ...others] = await problemsOf(remote(node.url));
  expect(others).toEqual([]);
  expect(line).toMatch(new RegExp(`^!clock: this machine is \\d+ s ${side} the ledger's`));
  expect(line).toEndWith("; set the clock (NTP), or use a node that has caught up");
});

test("a listed mint of other decimals than the ledger's is a problem", async () => {
  const mintData = fieldWriter(82).skip(44).u8(6).u8(1).skip(36).done();
  const mint = WATCHED[0];
  using node = nodeThat(TEST_GENESIS_HASH, 0, {
    held: { [mint]: { owner: TOKEN_PROGRAM, data: mintData } },
  });
  const env = remote(node.url);
  const listed = (decimals: number) => ({ ...env, SUPPORTED_MINTS: `${mint}:${decimals}:PLAY` });
  expect(await linesOf(listed(6))).toContain(
    "mints: 1 of 1 listed is on the ledger, with its decimals",
  );
  expect(await problemsOf(listed(9))).toEqual([
    `!mints: SUPPORTED_MINTS lists ${mint} (PLAY) with 9 decimals, but the mint on the ledger has 6; amounts would be shown as what they are not`,
  ]);
  const absent = { ...env, SUPPORTED_MINTS: `${WATCHED[1]}:9:NONE` };
  expect(await linesOf(absent)).toContain(
    "mints: 0 of 1 listed is on the ledger, with its decimals",
  );
});

describe("the programs", () => {
  const { custodyProgram, attestorProgram } = TEST_DEPLOYMENT;
  const problems = async (held: Held, more: Record<string, string> = {}) => {
    using node = nodeThat(TEST_GENESIS_HASH, 0, { held });
    return await problemsOf({ ...remote(node.url), ...more });
  };

  test("are told where they are deployed and initialised", async () => {
    using node = nodeThat(TEST_GENESIS_HASH, 0);
    const lines = await linesOf(remote(node.url));
    const line = lines.find((each) => each.startsWith("programs"));
    expect(line).toMatch(
      /^programs: custody \w{64}, not pinned: .*; initialised for each other and/,
    );
  });

  test("that are not there, or cannot be called, are a problem", async () => {
    const [gone] = await problems({ [custodyProgram]: null });
    expect(gone).toStartWith(
      `!programs: no program at ${custodyProgram}, which CUSTODY_PROGRAM_ID names; `,
    );
    const data = deployed(TEST_GENESIS_HASH)[attestorProgram]?.data ?? new Uint8Array();
    const [closed] = await problems({ [attestorProgram]: { owner: SYSTEM_PROGRAM, data } });
    expect(closed).toContain(
      `${attestorProgram}, which ATTESTOR_PROGRAM_ID names, cannot be called`,
    );
  });

  test("whose ids are swapped are a problem that says so", async () => {
    const [line] = await problems(
      {},
      { CUSTODY_PROGRAM_ID: attestorProgram, ATTESTOR_PROGRAM_ID: custodyProgram },
    );
    expect(line).toEndWith(
      "CUSTODY_PROGRAM_ID and ATTESTOR_PROGRAM_ID are each other's; swap them",
    );
  });

  test("that are not initialised, or for another ledger, are a problem", async () => {
    const { address: config } = custodyConfigAccount(TEST_DEPLOYMENT, { count: 0n });
    const [none] = await problems({ [config]: null });
    expect(none).toEndWith(
      `CUSTODY_PROGRAM_ID: not initialised for each other; check the ids, or run ${projectCommand("deploy")}`,
    );
    const other = custodyConfigAccount(TEST_DEPLOYMENT, { count: 0n }, WATCHED[0]);
    const [elsewhere] = await problems({ [config]: other });
    expect(elsewhere).toContain("custody was initialised for another ledger");
  });
});

test("each method is called once: one that is not offered is a problem, or a loss that is told", async () => {
  const methods = async (unknown: ReadonlyArray<string>) => {
    using node = nodeThat(TEST_GENESIS_HASH, 0, { unknown });
    const lines = await linesOf(remote(node.url));
    return lines.filter((line) => line.includes("methods: "));
  };
  expect(await methods([])).toEqual(["methods: 12 called once"]);
  expect(await methods(["getTransaction", "getFirstAvailableBlock"])).toEqual([
    "methods: 12 called once; not offered: getTransaction: events without signatures; getFirstAvailableBlock: scans where a history would do",
  ]);
  expect(await methods(["simulateTransaction", "getProgramAccounts"])).toEqual([
    "!methods: the node does not offer simulateTransaction, getProgramAccounts; use another, or another plan",
  ]);
});

test("a WebSocket that notifies is told, one that refuses is a problem, and so is one that is silent", async () => {
  const signals = async (socket: SocketFault | null) => {
    using node = nodeThat(TEST_GENESIS_HASH, 0, { socket });
    const lines = await linesOf(remote(node.url));
    return lines
      .filter((line) => line.includes("signals: "))
      .map((line) => line.replace(/:\d+/, ""));
  };
  expect(await signals(null)).toEqual([
    "signals: ws://127.0.0.1 takes the subscriptions and notifies",
  ]);
  const cure =
    "check SOLANA_WS_URL. Without signals the index follows the ledger every SYNC_INTERVAL_SECONDS";
  expect(await signals("refuses")).toEqual([
    `!signals: ws://127.0.0.1: it refuses a subscription: no such; ${cure}`,
  ]);
  expect(await signals("silent")).toEqual([
    `!signals: ws://127.0.0.1: it takes subscriptions and notifies of nothing within 5 s; ${cure}`,
  ]);
});

test("a node without a time is a problem", async () => {
  using node = nodeThat(TEST_GENESIS_HASH, null);
  expect(await problemsOf(remote(node.url))).toEqual([
    "!clock: the node does not return the ledger's time; use another",
  ]);
});

test("a data directory that cannot be written is a problem", async () => {
  const [line] = await problemsOf({ DATA_DIR: "/dev/null/data" });
  expect(line).toStartWith("!data: DATA_DIR /dev/null/data: it cannot be written (");
  expect(line).toEndWith("set another DATA_DIR");
});

test("valid stores are listed with their versions, and nothing is written", async () => {
  const DATA_DIR = await freshFolder();
  await makeStores(DATA_DIR, TEST_GENESIS_HASH);
  const before = await contentOf(DATA_DIR);
  using node = nodeThat(TEST_GENESIS_HASH, 0);
  const lines = await linesOf({ ...remote(node.url), DATA_DIR });
  expect(lines.filter((line) => line.startsWith("!"))).toEqual([]);
  expect(lines).toContain(`store: ${DATA_DIR}/index.sqlite: schema version 4`);
  expect(lines).toContain(`genesis: ${TEST_GENESIS_HASH}, localnet as configured`);
  expect(await contentOf(DATA_DIR)).toEqual(before);
});

test("a store that a service has open is read with its write-ahead log", async () => {
  const DATA_DIR = await freshFolder();
  const path = join(DATA_DIR, "index.sqlite");
  await Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        yield* Layer.build(
          indexSqlite({
            path,
            logFolder: join(DATA_DIR, "log"),
            genesisHash: TEST_GENESIS_HASH,
            deployment: TEST_DEPLOYMENT,
          }),
        );
        expect(Bun.file(`${path}-wal`).size).toBeGreaterThan(0);
        const lines = yield* Effect.promise(() => linesOf({ DATA_DIR }));
        expect(lines).toContain(`store: ${path}: schema version 4`);
      }),
    ),
  );
});

test("a store of another ledger, one of another version, a foreign one and a damaged one are problems, left as they are", async () => {
  const DATA_DIR = await freshFolder();
  await makeStores(DATA_DIR, TEST_GENESIS_HASH);
  using node = nodeThat(TEST_DEPLOYMENT.custodyProgram, 0);
  const otherLedger = await problemsOf({ ...remote(node.url), DATA_DIR });
  // Index, relay and how the log stands.
  expect(otherLedger).toHaveLength(3);
  expect(otherLedger[0]).toContain("index.sqlite holds the index of another ledger: genesis_hash");

  const path = join(DATA_DIR, "index.sqlite");
  const change = (sql: string) => {
    using db = new Database(path);
    db.run("PRAGMA journal_mode = DELETE");
    db.run(sql);
  };
  change("PRAGMA user_version = 99");
  expect((await problemsOf({ DATA_DIR }))[0]).toStartWith(
    `!store: ${path} has schema version 99; this version of the service knows version 4. Use`,
  );
  change("PRAGMA application_id = 7");
  const before = await contentOf(DATA_DIR);
  expect((await problemsOf({ DATA_DIR }))[0]).toContain("it is the database of another program");
  expect(await contentOf(DATA_DIR)).toEqual(before);
  await Bun.write(path, "this is no database, however long it is read".repeat(100));
  expect((await problemsOf({ DATA_DIR }))[0]).toContain("it is damaged or no SQLite database");
});

describe("the embedded ledger's database", () => {
  const made = async () => {
    const DATA_DIR = await freshFolder();
    const folder = join(DATA_DIR, "local-ledger");
    return { DATA_DIR, folder, path: join(folder, "ledger.sqlite") };
  };
  const change = (path: string, version: number) => {
    using db = new Database(path);
    db.run("PRAGMA journal_mode = DELETE");
    db.run(`PRAGMA user_version = ${version}`);
  };

  test("is told with its schema version, and one of another version is a problem with its cure", async () => {
    const { DATA_DIR, folder, path } = await made();
    openLedgerDatabase(folder).close();
    const lines = await linesOf({ DATA_DIR });
    expect(lines.at(-1)).toMatch(/^store: .*local-ledger\/ledger\.sqlite: schema version \d+$/);
    change(path, 2);
    const before = await contentOf(folder);
    const cure = `Delete the folder ${folder}, or set another DATA_DIR`;
    expect(await problemsOf({ DATA_DIR })).toEqual([
      `!store: ${path}: it holds escrows and merchants that these programs do not read (schema version 2, expected 4). ${cure}`,
    ]);
    expect(await contentOf(folder)).toEqual(before);
    change(path, 99);
    expect((await problemsOf({ DATA_DIR }))[0]).toStartWith(`!store: ${path}: schema version 99`);
  });

  test("that a ledger holds is told, one that is no database is a problem", async () => {
    const { DATA_DIR, folder, path } = await made();
    const database = openLedgerDatabase(folder);
    expect(await linesOf({ DATA_DIR })).toContain(`store: ${path}: a running ledger holds it`);
    database.close();
    await Bun.write(path, "this is no database, however long it is read".repeat(100));
    expect((await problemsOf({ DATA_DIR }))[0]).toStartWith(`!store: ${path}: `);
  });
});
