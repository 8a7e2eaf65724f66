import { Cause, Effect, Exit, Layer, Redacted } from "effect";
import { projectCommand } from "../../core/domain/project-command.ts";
import { sha256Bun } from "../../adapters/bun/sha256.ts";
import { witnessHandler } from "../../adapters/http/witness/witness-server.ts";
import { ledgerSolanaRpc } from "../../adapters/solana-rpc/ledger-solana-rpc.ts";
import { nodePool } from "../../adapters/solana-rpc/pool/node-pool.ts";
import { solanaRpcConfig } from "../../adapters/solana-rpc/pool/pool-config.ts";
import { printVerifierKey } from "../../core/log/notes/verifier-key.ts";
import { provideSha256 } from "../../core/domain/sha256.ts";
import { Witness } from "../../core/use-cases/witness/witness.ts";
import { WitnessUnusable } from "../../ports/log/witness-state.ts";
import { serviceUrl } from "../config/kinds.ts";
import { faultLines } from "../config/variable.ts";
import {
  type LoneWitnessSettings,
  readLoneWitnessSettings,
  witnessAddresses,
} from "../config/witness-environment.ts";
import { claimDataDirectory } from "../stores/data-directory.ts";
import { logging } from "../lifecycle/logging.ts";
import { awaitEnding, awaitEndingOfParent, limitStop } from "../lifecycle/shutdown.ts";
import { joinLog } from "../log/join-log.ts";
import { witnessLayer } from "../log/witness-layer.ts";
import { watchNpx } from "../watch-npx.ts";
import { EX_USAGE, exitWith, readCommandLine } from "../command-line/command-line.ts";

const HELP = `Runs a witness by itself: it compares the logs of services with your own node and cosigns their
checkpoints. docs/log.md, "Run a witness", says how.

usage: bun run cli witness [--join SERVICE] [--rpc URL] [--ws URL]

  --join SERVICE   the service whose log it joins: makes a key and a list of logs in DATA_DIR where there are none, and
                   prints the line that the log's operator gives to bun run cli log add-witness. The same command again
                   goes on with them; with another SERVICE it joins that log too
  --rpc URL        your own node   (SOLANA_RPC_URL)
  --ws URL         that node's WebSocket   (SOLANA_WS_URL)
  --supervised     ends when its standard input closes
  --help           this text

Environment variables configure it; with --join only the node is needed:

  SOLANA_RPC_URL        your own node; several separated by commas
  SOLANA_WS_URL         its WebSocket                                      (the node's own port, or the next)
  CUSTODY_PROGRAM_ID    the programs of the ledger whose logs it watches   (those that SERVICE names)
  ATTESTOR_PROGRAM_ID
  WITNESS_LOGS          a file with a line "VKEY URL" for each log         (logs.txt in DATA_DIR)
  WITNESS_KEY_FILE      a file with the witness's own key: 32 bytes as base64, mode 0600, or who holds it
                                                                           (witness.key in DATA_DIR, made)
  WITNESS_NAME          its name: a URL without scheme, such as witness.example.com
                                                                           (witness- and digits of its key)
  DATA_DIR              where it keeps what it cosigned                    (./witness-data)
  HOST, PORT            where it listens                                   (127.0.0.1, 3001)
  WITNESS_URL           the address under which logs reach it, without /witness   (where it listens)
  LOG_LEVEL             debug, info, warn or error                         (info)
  LOG_FORMAT            pretty or json                                     (pretty on a terminal, else json)
`;

const { values: options } = readCommandLine(HELP, {
  join: { type: "string" },
  rpc: { type: "string" },
  ws: { type: "string" },
  supervised: { type: "boolean", default: false },
});
/** The address of the service to join, without a slash at its end. Ends the process for any other text. */
const serviceAddress = (text: string): string =>
  serviceUrl.parse(text)?.href.replace(/\/+$/, "") ??
  exitWith(EX_USAGE, `--join: expected ${serviceUrl.expected}`);

const joined = options.join === undefined ? null : serviceAddress(options.join);
// The same as the service's: files for their owner alone.
process.umask(0o077);

/** Longer than a request may take; Bun allows at most 255. */
const IDLE_SECONDS = 120;

/** The settings with what the witness lacks, once it has joined the log that it was told to join. */
const complete = Effect.fnUntraced(function* (settings: LoneWitnessSettings, dataDir: string) {
  if (joined !== null) return yield* joinLog(joined, dataDir, settings);
  const { deployment, witness } = settings;
  const { name, keyFile, logsFile } = witness;
  if (deployment === null || name === null || keyFile === null || logsFile === null)
    return yield* Effect.die(new Error("a setting that is needed was not missed"));
  return { deployment, witness: { name, keyFile, logsFile } };
});

const isOfThisMachine = (url: string): boolean =>
  /^(localhost|127\..*|\[::1\])$/.test(new URL(url).hostname);

/** Serves for as long as its scope is open. */
const serving = Effect.fnUntraced(function* (settings: LoneWitnessSettings) {
  const { host, port, rpcUrls, webSocketUrl } = settings;
  const dataDir = yield* claimDataDirectory(settings.dataDir);
  const { deployment, witness } = yield* complete(settings, dataDir);
  const ledger = ledgerSolanaRpc.pipe(Layer.provide(nodePool(solanaRpcConfig(rpcUrls))));
  const place = { dataDir, deployment, webSocketUrl };
  const layer = witnessLayer(witness, place, []).pipe(Layer.provide(ledger));
  const context = yield* Layer.build(layer);
  const { addCheckpoint, refused, key } = yield* Effect.provide(Witness, context);
  if (addCheckpoint === null || refused === null || key === null)
    return yield* Effect.die(new Error("no witness was made"));
  const server = yield* Effect.acquireRelease(
    Effect.try({
      try: () =>
        Bun.serve({
          hostname: host,
          port,
          development: false,
          idleTimeout: IDLE_SECONDS,
          maxRequestBodySize: Number.MAX_SAFE_INTEGER,
          fetch: witnessHandler({ addCheckpoint, refused }),
        }),
      catch: () =>
        new WitnessUnusable({
          source: `HOST ${host}, PORT ${port}`,
          reason: "it cannot listen there",
        }),
    }),
    (server) => Effect.promise(() => server.stop()),
  );
  const { listens, url } = witnessAddresses(settings, server.port ?? port);
  // What the operator of a log puts into its policy.
  const policy = `witness ${key.name} ${printVerifierKey(key)} ${url}`;
  yield* Effect.logInfo("witness listening", {
    listens,
    policy,
    node: Redacted.value(rpcUrls[0]).host,
  });
  if (joined !== null && !options.supervised) {
    yield* Effect.logInfo("the log's operator takes this witness with", {
      command: projectCommand(`cli log add-witness '${policy}'`),
    });
    if (isOfThisMachine(url) && !isOfThisMachine(joined))
      yield* Effect.logWarning("the log may be on another machine, and cannot reach that address", {
        cure: "set HOST, and WITNESS_URL to the address under which others reach this witness",
      });
  }
  return yield* Effect.never;
});

const ending = options.supervised
  ? awaitEndingOfParent
  : Effect.raceFirst(
      awaitEnding,
      Effect.as(Effect.flatten(watchNpx), { kind: "asked", by: "the end of npx" } as const),
    );

const serve = Effect.gen(function* () {
  provideSha256(sha256Bun);
  const env = {
    ...process.env,
    ...(options.rpc === undefined ? {} : { SOLANA_RPC_URL: options.rpc }),
    ...(options.ws === undefined ? {} : { SOLANA_WS_URL: options.ws }),
  };
  const settings = yield* readLoneWitnessSettings(env, joined !== null);
  return yield* Effect.raceFirst(ending, serving(settings)).pipe(
    Effect.tap((end) =>
      end.kind === "asked"
        ? Effect.logInfo("stopping", { by: end.by })
        : Effect.logError("stopping after an error that nobody caught", Cause.die(end.cause)),
    ),
    Effect.ensuring(limitStop),
    Effect.scoped,
    Effect.provide(logging(settings.logFormat, settings.logLevel)),
  );
});

const exit = await Effect.runPromiseExit(serve);
if (Exit.isSuccess(exit)) process.exit(exit.value.kind === "asked" ? 0 : 1);
const failure = Cause.findErrorOption(exit.cause);
if (failure._tag === "None") throw Cause.squash(exit.cause);
const { value } = failure;
switch (value._tag) {
  case "ConfigInvalid":
    exitWith(1, faultLines(value.faults).join("\n"));
    break;
  case "DataDirectoryUnusable":
    exitWith(1, `DATA_DIR ${value.path}: ${value.reason}`);
    break;
  case "WitnessUnusable":
    exitWith(1, value.message);
    break;
}
