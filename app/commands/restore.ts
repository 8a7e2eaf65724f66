import { resolve } from "node:path";
import { Duration, Effect, Layer, Logger } from "effect";
import { ledgerSolanaRpc } from "../../adapters/solana-rpc/ledger-solana-rpc.ts";
import { nodePool } from "../../adapters/solana-rpc/pool/node-pool.ts";
import { solanaRpcConfig } from "../../adapters/solana-rpc/pool/pool-config.ts";
import type { CommandIo } from "../../client/command-line/command-io.ts";
import { parseHash32 } from "../../core/domain/hash32.ts";
import { Ledger } from "../../ports/ledger/ledger.ts";
import { type Configured, restoreBackup } from "../backup/restore-backup.ts";
import { EX_USAGE, endWith, parseCommandLine, runAsProcess } from "../command-line/command-line.ts";
import { readSettings, type Settings } from "../config/settings.ts";
import { faultLines } from "../config/variable.ts";
import { databaseIn, onBackup } from "./backup.ts";

const HELP = `Puts a backup into a new data directory, and its dump into an empty database. docs/backup.md has the whole drill.

usage: bun run cli restore --from FOLDER --data-dir NEW [options]

  --from FOLDER   the backup
  --data-dir NEW  where to: not there yet, or empty; it appears once it is whole
  --keys FOLDER   the keys that were backed up apart; without it put them back yourself
  --sha256 HEX    what the backup said of its manifest; refuses another one
  --keys-sha256 HEX   what it said of the keys' manifest; the same
  --help          this text

The environment is the service's: a backup of another ledger than it names is refused, and DATABASE_URL names the database
that a dump goes into. Nothing is written before all of the backup is checked. The service must not run.

Ends with 0 when NEW is whole, 64 for a wrong command line, 65 when nothing is restored, for a reason that one line names,
66 when a file cannot be read or written.
`;

/** How long a node may take to show its genesis hash. Without an answer the service compares it at its start. */
const NODE_PATIENCE = Duration.seconds(5);

const genesisOf = ({ ledger }: Settings): Promise<string | null> => {
  if (ledger.kind === "embedded") return Promise.resolve(null);
  const nodes = Layer.provide(ledgerSolanaRpc, nodePool(solanaRpcConfig(ledger.rpcUrls)));
  return Ledger.use(({ genesisHash }) => genesisHash).pipe(
    Effect.timeout(NODE_PATIENCE),
    Effect.orElseSucceed(() => null),
    Effect.provide(Layer.merge(nodes, Logger.layer([]))),
    Effect.runPromise,
  );
};

const configuredBy = async (env: CommandIo["env"]): Promise<Configured> => {
  const settings = await Effect.runPromise(
    Effect.match(readSettings(env), {
      onSuccess: (read) => read,
      onFailure: ({ faults }) => endWith(EX_USAGE, faultLines(faults).join("; ")),
    }),
  );
  return { settings, genesisHash: await genesisOf(settings) };
};

/** Runs the command. */
export const main = async (args: ReadonlyArray<string>, io: CommandIo): Promise<number> => {
  const { values } = parseCommandLine(args, HELP, {
    from: { type: "string" },
    "data-dir": { type: "string" },
    keys: { type: "string" },
    sha256: { type: "string" },
    "keys-sha256": { type: "string" },
  });
  const { from, keys } = values;
  if (from === undefined || values["data-dir"] === undefined)
    return endWith(EX_USAGE, "--from and --data-dir are needed; see --help");
  const digestIn = (option: "sha256" | "keys-sha256") => {
    const given = values[option];
    if (given === undefined) return null;
    return parseHash32(given) ?? endWith(EX_USAGE, `--${option}: expected 64 hex digits`);
  };
  const [digest, keysDigest] = [digestIn("sha256"), digestIn("keys-sha256")];
  if (keysDigest !== null && keys === undefined)
    return endWith(EX_USAGE, "--keys-sha256 is of the keys that --keys names");
  const dataDir = resolve(values["data-dir"]);
  const database = databaseIn(io.env);
  const restoreDumps =
    database === null ? null : (await import("../backup/database-dump.ts")).restoreInto(database);
  const manifest = await onBackup(() =>
    restoreBackup({
      from: resolve(from),
      keys: keys === undefined ? null : resolve(keys),
      digest,
      keysDigest,
      dataDir,
      configured: () => configuredBy(io.env),
      restoreDumps,
    }),
  );
  const { log, made_at } = manifest;
  io.stdout.write(
    `${dataDir} is as it was at ${made_at}${log === null ? "" : `, the log ${log.origin} at ${log.size} leaves`}.
${keys === undefined ? "The keys are not in it: put them where the settings name them. " : "The keys are in it. "}Start the service with DATA_DIR=${dataDir}
`,
  );
  return 0;
};

if (import.meta.main) await runAsProcess(main);
