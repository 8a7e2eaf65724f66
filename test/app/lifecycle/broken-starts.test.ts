import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Effect, Layer } from "effect";
import { indexSqlite } from "../../../adapters/sqlite/index-store.ts";
import { outcomeLogSqlite } from "../../../adapters/sqlite/relay/outcome-log.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { environmentOn } from "../../chaos/support/service-environment.ts";
import { serveNode } from "../../simulation/serve-node.ts";
import { worldOf } from "../../simulation/world.ts";
import { ChainNode } from "../../world/chain-node.ts";
import { brokenStart, problemsFound } from "../support/broken-start.ts";
import { temporaryDirectory } from "../support/running-service.ts";
import { SILENT_ADDRESS } from "../support/silent-address.ts";

const directory = await temporaryDirectory();
const world = worldOf(1);
const node = serveNode(new ChainNode(world).answer);
const opened: Array<() => unknown> = [() => node[Symbol.dispose](), () => directory.remove()];
afterAll(async () => {
  for (const close of opened) await close();
});

type Environment = Readonly<Record<string, string>>;
/** One way to break a service, and what its operator has to read in one line. */
type Broken = {
  readonly name: string;
  /** Breaks the service whose data directory is `dataDir`, and gives the settings that do it or are needed for it. */
  readonly by: (dataDir: string) => unknown;
  /** The path, address or setting. */
  readonly where: string;
  readonly cause: RegExp;
  readonly cure: RegExp;
  /** Whether it ends with 1, because trying again cannot help. The others say it and go on trying. */
  readonly ends?: boolean;
  /** Whether it serves without what is broken. */
  readonly servesOn?: boolean;
  /** Where the doctor has another cure. */
  readonly doctor?: RegExp;
};

/** An address at which a server answers every request in this way. */
const answering = (answer: () => Response | Promise<Response>) => {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer });
  opened.push(() => server.stop(true));
  return { SOLANA_RPC_URL: `http://127.0.0.1:${server.port}/secret-key` };
};

/** An address at which a database server refuses every connection with this SQLSTATE. */
const refusing = (sqlState: string, message: string): Environment => {
  const fields = `SFATAL\0VFATAL\0C${sqlState}\0M${message}\0\0`;
  const reply = Buffer.alloc(5 + fields.length, 0);
  reply.write("E");
  reply.writeInt32BE(4 + fields.length, 1);
  reply.write(fields, 5);
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data: (socket) => {
        socket.write(reply);
        socket.end();
      },
    },
  });
  opened.push(() => server.stop(true));
  return { DATABASE_URL: `postgres://service:secret@127.0.0.1:${server.port}/evidence` };
};

const inFolder = (dataDir: string, ...path: ReadonlyArray<string>): string => {
  const place = join(dataDir, ...path);
  mkdirSync(dirname(place), { recursive: true, mode: 0o700 });
  return place;
};
const file =
  (...path: ReadonlyArray<string>) =>
  (dataDir: string): void =>
    writeFileSync(inFolder(dataDir, ...path), "this is no database, however long. ".repeat(300));
const folder =
  (...path: ReadonlyArray<string>) =>
  (dataDir: string): void =>
    void mkdirSync(inFolder(dataDir, ...path, "within"), { recursive: true });
/** Makes the stores of a ledger, and changes one of them. */
const stores =
  (genesisHash: string, name: "index" | "relay", sql: string) => async (dataDir: string) => {
    mkdirSync(dataDir, { mode: 0o700 });
    const identity = { genesisHash, deployment: LOCAL_DEPLOYMENT };
    const path = (store: string) => join(dataDir, `${store}.sqlite`);
    const made = Layer.merge(
      indexSqlite({ ...identity, path: path("index"), logFolder: join(dataDir, "log") }),
      outcomeLogSqlite({ ...identity, path: path("relay") }),
    );
    await Effect.runPromise(Effect.scoped(Layer.build(made)));
    using db = new Database(path(name));
    db.run("PRAGMA journal_mode = DELETE");
    db.run(sql);
  };

const OURS = world.genesisHash;
const ANOTHER = "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG";
const LOG = { LOG_NAME: "log.example", LOG_SIGNING_KEY: Buffer.alloc(32, 5).toString("base64") };
const { port } = new URL(answering(() => new Response("?")).SOLANA_RPC_URL);

const MOVE = /Move (it|the folder) away/;
const ADDRESS = /Check that the node runs and that its address in SOLANA_RPC_URL is right/;
const IN_THE_WAY = /a file stands where a folder belongs|a folder stands there/;
const READABLE = /name (one|a file) that the service's user can read/;
const ends = true;

/** What stands in the way of a data directory and its stores. */
const FILES: ReadonlyArray<Broken> = [
  ...[
    { stands: "is a file", by: (dataDir: string) => writeFileSync(dataDir, ""), cause: /EEXIST/ },
    { stands: "cannot be made", by: () => ({ DATA_DIR: "/dev/null/data" }), cause: /ENOTDIR/ },
  ].map(({ stands, by, cause }) => ({
    name: `DATA_DIR ${stands}`,
    by,
    where: "DATA_DIR ",
    cause: new RegExp(`${cause.source}|not a directory`),
    cure: /set another DATA_DIR/,
    ends,
  })),
  { name: "log is a file", by: file("log"), where: "/log", cause: IN_THE_WAY, cure: MOVE, ends },
  ...["log/standing.sqlite", "index.sqlite", "relay.sqlite"].flatMap((path): Array<Broken> => {
    const rest = { where: `/${path}`, cure: MOVE, ends };
    return [
      { name: `${path} is a folder`, by: folder(path), cause: IN_THE_WAY, ...rest },
      { name: `${path} is no database`, by: file(path), cause: /damaged or no SQLite/, ...rest },
    ];
  }),
  {
    name: "packets.sqlite is a folder",
    by: folder("packets.sqlite"),
    where: "/packets.sqlite",
    cause: IN_THE_WAY,
    cure: MOVE,
    servesOn: true,
  },
  {
    name: "the index is of a newer version",
    by: stores(OURS, "index", "PRAGMA user_version = 99"),
    where: "/index.sqlite",
    cause: /schema version 99/,
    cure: /Use the service that wrote it, or another store/,
    ends,
  },
  {
    name: "the index is of another ledger",
    by: stores(ANOTHER, "index", "SELECT 1"),
    where: "/index.sqlite",
    cause: /genesis_hash is EtWT/,
    cure: /Use another store for this ledger/,
    ends,
  },
  {
    name: "relay.sqlite is another program's",
    by: stores(OURS, "relay", "PRAGMA application_id = 7"),
    where: "/relay.sqlite",
    cause: /the database of another program/,
    cure: MOVE,
    ends,
  },
];

/** The service brings its own ledger where no node is named. */
const EMBEDDED = { SOLANA_RPC_URL: "", CUSTODY_PROGRAM_ID: "", ATTESTOR_PROGRAM_ID: "" };

/** What stands in the way of the embedded ledger. */
const LEDGERS: ReadonlyArray<Broken> = [
  {
    name: "local-ledger is a file",
    by: (dataDir) => (file("local-ledger")(dataDir), EMBEDDED),
    where: "/local-ledger",
    cause: IN_THE_WAY,
    cure: MOVE,
    ends,
  },
  {
    name: "the embedded ledger is no database",
    by: (dataDir) => (file("local-ledger/ledger.sqlite")(dataDir), EMBEDDED),
    where: "/local-ledger/ledger.sqlite",
    cause: /not a database/,
    cure: /Move DATA_DIR away/,
    ends,
  },
  {
    name: "the embedded ledger is a folder",
    by: (dataDir) => (folder("local-ledger/ledger.sqlite")(dataDir), EMBEDDED),
    where: "/local-ledger/ledger.sqlite",
    cause: /a folder stands there/,
    cure: MOVE,
    ends,
  },
];

const NODES: ReadonlyArray<Broken> = [
  {
    name: "the node is a web page",
    by: () => answering(() => new Response("<html>")),
    where: "http://127.0.0.1:",
    cause: /not_json/,
    cure: /check SOLANA_RPC_URL/,
  },
  ...[
    { status: 404, cure: /Look the status up with the provider.* check SOLANA_RPC_URL/ },
    { status: 401, cure: /wrong or missing key/ },
    { status: 500, cure: /Look the status up with the provider/ },
  ].map(({ status, cure }) => ({
    name: `the node answers ${status}`,
    by: () => answering(() => new Response("", { status })),
    where: "http://127.0.0.1:",
    cause: new RegExp(`http_status \\(?${status}`),
    cure,
  })),
  {
    name: "the node speaks another JSON",
    by: () => answering(() => Response.json({ hello: 1 })),
    where: "http://127.0.0.1:",
    cause: /malformed/,
    cure: /another form than Solana's JSON-RPC: use another node/,
  },
  ...[
    ["nothing listens at the node's address", SILENT_ADDRESS],
    ["the node's name has no address", "http://node.invalid"],
    ["the node does not speak TLS", node.url.replace("http:", "https:")],
  ].map(([name = "", where = ""]) => ({
    name,
    by: () => ({ SOLANA_RPC_URL: where, SOLANA_CLUSTER: "localnet" }),
    where: new URL(where).origin,
    cause: /unreachable/,
    cure: ADDRESS,
  })),
  {
    name: "the node never answers",
    by: () => answering(() => new Promise<Response>(() => undefined)),
    where: "SOLANA_RPC_URL",
    cause: /no answer|timeout/,
    cure: ADDRESS,
    doctor: /The node is slow or overloaded/,
  },
  {
    name: "the node is of another cluster",
    by: () => ({ SOLANA_CLUSTER: "devnet" }),
    where: "the ledger is localnet",
    cause: /devnet is configured/,
    cure: /set SOLANA_CLUSTER or SOLANA_RPC_URL/,
    ends,
  },
];

const DATABASES: ReadonlyArray<Broken> = [
  ...[
    ["no database server listens", "127.0.0.1:1"],
    ["the database server's name has no address", "db.invalid"],
  ].map(([name = "", host]) => ({
    name,
    by: () => ({ DATABASE_URL: `postgres://u:hunter2@${host}/evidence` }),
    where: `postgres://${host}/evidence`,
    cause: /the database server does not answer/,
    cure: /correct the host and port in DATABASE_URL/,
  })),
  ...[
    {
      reply: ["28P01", "password authentication failed"],
      cause: /password authentication failed/,
      cure: /Correct the role and the password in DATABASE_URL/,
      ends,
    },
    {
      reply: ["3D000", "database does not exist"],
      cause: /no such database/,
      cure: /Create it \(createdb\), or correct the name in DATABASE_URL/,
      ends,
    },
    {
      reply: ["53300", "sorry, too many clients already"],
      cause: /too many clients already/,
      cure: /Raise the database server's limits/,
    },
  ].map(({ reply: [sqlState = "", message = ""], ...rest }) => ({
    name: `the database server says ${message}`,
    by: () => refusing(sqlState, message),
    where: "postgres://127.0.0.1:",
    ...rest,
  })),
];

const SETTINGS: ReadonlyArray<Broken> = [
  ...["PORT", "METRICS_PORT"].map((setting) => ({
    name: `the port of ${setting} is taken`,
    by: () => ({ [setting]: port }),
    where: `Port ${port}`,
    cause: /is taken/,
    cure: new RegExp(`set another ${setting}`),
    ends,
  })),
  {
    name: "the address is not this machine's",
    by: () => ({ HOST: "192.0.2.1", PORT: "4321" }),
    where: "HOST 192.0.2.1",
    cause: /EADDRNOTAVAIL/,
    cure: /set an address of this machine/,
    ends,
  },
  ...[
    { setting: "EVIDENCE_SIGNING_KEY_FILE", beside: {}, where: "/absent/file", doctor: /./ },
    { setting: "LOG_SIGNING_KEY_FILE", beside: { LOG_NAME: LOG.LOG_NAME }, where: "/absent/file" },
    { setting: "LOG_WITNESSES", beside: LOG, where: "LOG_WITNESSES /absent/file" },
  ].map(({ setting, beside, ...rest }) => ({
    name: `the file of ${setting} is missing`,
    by: () => ({ ...beside, [setting]: "/absent/file" }),
    cause: /ENOENT/,
    cure: READABLE,
    ends,
    ...rest,
  })),
  {
    name: "the evidence key's file is a folder",
    by: (dataDir) => (folder("key")(dataDir), { EVIDENCE_SIGNING_KEY_FILE: `${dataDir}/key` }),
    where: "/key",
    cause: /it is not a file/,
    cure: READABLE,
    ends,
    doctor: /./,
  },
  ...[
    {
      stands: "another file",
      put: file,
      cause: /is not what the key writes/,
      cure: /copy of it back/,
    },
    { stands: "a folder", put: folder, cause: /EISDIR/, cure: /If it is no file, move it away/ },
  ].map(({ stands, put, ...rest }) => ({
    name: `${stands} stands where the log's key tells what it has signed`,
    by: (dataDir: string) => (put("log-signing-key.signed.json")(dataDir), LOG),
    where: "/log-signing-key.signed.json",
    ends,
    ...rest,
  })),
  {
    name: "a setting is malformed",
    by: () => ({ PORT: "http" }),
    where: "PORT is",
    cause: /"http"/,
    cure: /expected a whole number from 0 to 65535/,
    ends,
  },
];

/** A disk of 64 KiB, which only root can make, and not in every container; null where it cannot be made. */
const smallDisk = (): string | null => {
  const path = join(directory.path, "disk");
  mkdirSync(path, { mode: 0o700 });
  const mount = ["mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "tmpfs", path];
  if (Bun.which("mount") === null || Bun.spawnSync(mount).exitCode !== 0) return null;
  opened.unshift(() => Bun.spawnSync(["umount", path]));
  return path;
};
const disk = smallDisk();
const FULL: Broken = {
  name: "its disk is full",
  by: () => ({ DATA_DIR: disk }),
  where: `${disk}/index.sqlite`,
  cause: /no space is left on its disk/,
  cure: /Free space on the disk of the stores/,
};

const oneLine = (text: string): string => text.replaceAll("\n", " ");
const SAYS = "a service says where, why and what to do, and so does the doctor";

let count = 0;
const judge = async (broken: Broken): Promise<void> => {
  const { by, where, cause, cure, ends = false, servesOn = false, doctor = cure } = broken;
  const dataDir = join(directory.path, String(++count));
  const settings = (await by(dataDir)) as object | undefined;
  const env = { ...environmentOn(node.url, dataDir), LOG_LEVEL: "warn", ...settings };
  const fits = (line: string) =>
    line.includes(where) && cause.test(oneLine(line)) && cure.test(oneLine(line));
  const isTold = (ready: object | null) => servesOn || cure.test(JSON.stringify(ready));
  const { lines, hasEnded, ready } = await brokenStart(env, fits, isTold);
  expect(lines.filter(fits), lines.join("\n")).not.toBeEmpty();
  expect(hasEnded).toBe(ends);
  if (!ends && !servesOn) expect(JSON.stringify(ready)).toMatch(cure);
  expect(`${lines.join()}${JSON.stringify(ready)}`).not.toMatch(/hunter2|secret/);
  const problems = await problemsFound(env);
  expect(
    problems.filter((text) => doctor.test(text)),
    problems.join("\n"),
  ).not.toBeEmpty();
};

test.each([...FILES, ...LEDGERS, ...NODES, ...DATABASES, ...SETTINGS])(
  `broken so that $name, ${SAYS}`,
  judge,
  60_000,
);
test.skipIf(disk === null)(`broken so that its disk is full, ${SAYS}`, () => judge(FULL), 60_000);
