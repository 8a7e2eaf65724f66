import { afterAll } from "bun:test";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Effect } from "effect";
import { INDEX_KIND } from "../../../adapters/sqlite/index/index-schema.ts";
import { claimLedger } from "../../../adapters/sqlite/ledger-identity.ts";
import { STANDING_KIND, standingRow } from "../../../adapters/sqlite/log/standing-file.ts";
import { openStore } from "../../../adapters/sqlite/open-store.ts";
import { PACKETS_KIND } from "../../../adapters/sqlite/packets/settled-packets.ts";
import { OUTCOME_KIND } from "../../../adapters/sqlite/relay/outcome-schema.ts";
import { runCommand } from "../../../app/command-line/command-line.ts";
import { main as backup } from "../../../app/commands/backup.ts";
import { main as restore } from "../../../app/commands/restore.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { printLogStanding } from "../../../core/use-cases/log/log-standing.ts";
import { runHere } from "../support/run-here.ts";
import { temporaryDirectory } from "../support/running-service.ts";
import { parseHash32 } from "../../../core/domain/hash32.ts";

export const GENESIS = "11111111111111111111111111111112";
/** The text of each key of a data directory. */
export const KEY = `${Buffer.alloc(32, 7).toString("base64")}\n`;
export const ROOT = "ab".repeat(32);

/** Writes a file that others may read, with the folders above it. */
export const put = async (path: string, content: string): Promise<void> => {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content, { mode: 0o644 });
};

const HASH = parseHash32(ROOT);
if (HASH === undefined) throw new Error("ROOT is no hash");
/** How the log of a data directory stands. */
export const standing = printLogStanding({
  signed: {
    origin: "log.example/log/0123456789abcdef/0",
    size: 300,
    root: HASH,
  },
  publicKey: HASH,
  nextKey: null,
  retiredKeys: [],
  published: null,
  ended: null,
  predecessors: [],
});

/** A data directory with each kind of file, and keys under their names and under another one. */
const dataDirectoryIn = async (path: string, tiles: number) => {
  const data = join(path, "data");
  const stores = [
    ["index.sqlite", INDEX_KIND],
    ["relay.sqlite", OUTCOME_KIND],
    ["packets.sqlite", PACKETS_KIND],
    ["log/standing.sqlite", STANDING_KIND],
  ] as const;
  for (const [name, kind] of stores)
    await openStore(join(data, name), kind).pipe(
      Effect.map((db) => {
        if (name !== "packets.sqlite")
          claimLedger(db, name, { genesisHash: GENESIS, deployment: LOCAL_DEPLOYMENT });
        if (name === "log/standing.sqlite") standingRow(db).replace(null, standing);
      }),
      Effect.scoped,
      Effect.runPromise,
    );
  for (let tile = 0; tile < tiles; tile++)
    await put(join(data, `log/0/tile/0/${String(tile).padStart(3, "0")}`), `tile ${tile}`);
  await put(join(data, "log-signing-key.signed.json"), standing);
  await put(join(data, "log-witnesses"), "quorum none\n");
  await put(join(data, "imports/one.json"), "{}");
  await put(join(data, "service.lock"), "");
  await put(join(data, "snapshot.spool"), "half of a snapshot");
  for (const name of ["evidence-signing-key", "log-signing-key", "log-signing-key.next", "old-key"])
    await put(join(data, name), KEY);
  await put(join(data, "pem"), "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n");
  const ledger = {
    SOLANA_RPC_URL: "http://127.0.0.1:9",
    SOLANA_CLUSTER: "localnet",
    CUSTODY_PROGRAM_ID: LOCAL_DEPLOYMENT.custodyProgram,
    ATTESTOR_PROGRAM_ID: LOCAL_DEPLOYMENT.attestorProgram,
  };
  const to = join(path, "backup");
  const env: Record<string, string> = { DATA_DIR: data, ...ledger };
  return {
    path,
    data,
    to,
    env,
    backUp: (...args: ReadonlyArray<string>) =>
      runHere((io) => runCommand(backup, ["--to", to, ...args], io), { env }),
    restore: (args: ReadonlyArray<string> = [], changes: Record<string, string> = {}) =>
      runHere(
        (io) => runCommand(restore, ["--from", to, "--data-dir", join(path, "new"), ...args], io),
        { env: { ...env, ...changes } },
      ),
  };
};
export type DataDirectory = Awaited<ReturnType<typeof dataDirectoryIn>>;

/** Makes data directories, each in a folder of its own that is gone after the file's tests. */
export const dataDirectories = () => {
  const directories: Array<Awaited<ReturnType<typeof temporaryDirectory>>> = [];
  afterAll(() => Promise.all(directories.map(({ remove }) => remove())));
  return async (tiles = 2): Promise<DataDirectory> => {
    const directory = await temporaryDirectory();
    directories.push(directory);
    return dataDirectoryIn(directory.path, tiles);
  };
};
