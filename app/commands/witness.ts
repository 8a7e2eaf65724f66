import { Cause, Effect, Exit, Layer, Redacted } from "effect";
import { sha256Bun } from "../../adapters/bun/sha256.ts";
import { witnessHandler } from "../../adapters/http/witness/witness-server.ts";
import { ledgerSolanaRpc } from "../../adapters/solana-rpc/ledger-solana-rpc.ts";
import { nodePool } from "../../adapters/solana-rpc/pool/node-pool.ts";
import { solanaRpcConfig } from "../../adapters/solana-rpc/pool/pool-config.ts";
import { printVerifierKey } from "../../core/log/notes/verifier-key.ts";
import { provideSha256 } from "../../core/domain/sha256.ts";
import { Witness } from "../../core/use-cases/witness/witness.ts";
import { WitnessUnusable } from "../../ports/log/witness-state.ts";
import { faultLines } from "../config/variable.ts";
import {
  type LoneWitnessSettings,
  readLoneWitnessSettings,
  witnessAddresses,
} from "../config/witness-environment.ts";
import { webSocketUrlOf } from "../config/settings.ts";
import { claimDataDirectory } from "../stores/data-directory.ts";
import { logging } from "../lifecycle/logging.ts";
import { awaitEnding, limitStop } from "../lifecycle/shutdown.ts";
import { witnessLayer } from "../log/witness-layer.ts";
import { watchNpx } from "../watch-npx.ts";
import { exitWith, readCommandLine } from "../command-line/command-line.ts";

const HELP = `Runs a witness by itself: it compares the logs of services with your own node and cosigns their
checkpoints. docs/log.md, "Run a witness", says how.

usage: bun run cli witness

It takes no options; environment variables configure it:

  SOLANA_RPC_URL        your own node; several separated by commas
  CUSTODY_PROGRAM_ID    the programs of the ledger whose logs it watches
  ATTESTOR_PROGRAM_ID
  WITNESS_LOGS          a file with a line "VKEY URL" for each log
  WITNESS_KEY_FILE      a file with the witness's own key: 32 bytes as base64 (chmod 600)
  WITNESS_NAME          its name: a URL without scheme, such as witness.example.com
  DATA_DIR              where it keeps what it cosigned   (./witness-data)
  HOST, PORT            where it listens                  (127.0.0.1, 3001)
  WITNESS_URL           the address under which logs reach it, without /witness   (where it listens)
  LOG_LEVEL             debug, info, warn or error        (info)
  LOG_FORMAT            pretty or json                    (pretty on a terminal, else json)
`;

readCommandLine(HELP, {});
// The same as the service's: files for their owner alone.
process.umask(0o077);

/** Longer than a request may take; Bun allows at most 255. */
const IDLE_SECONDS = 120;

const run = Effect.fnUntraced(function* (settings: LoneWitnessSettings) {
  const { host, port, rpcUrls, deployment, witness } = settings;
  const dataDir = yield* claimDataDirectory(settings.dataDir);
  const ledger = ledgerSolanaRpc.pipe(Layer.provide(nodePool(solanaRpcConfig(rpcUrls))));
  const webSocketUrl = Redacted.make(webSocketUrlOf(Redacted.value(rpcUrls[0])));
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
  const npxEnded = yield* watchNpx;
  const { listens, url } = witnessAddresses(settings, server.port ?? port);
  const vkey = printVerifierKey(key);
  yield* Effect.logInfo("witness listening", {
    listens,
    // What the operator of a log puts into its policy.
    policy: `witness ${key.name} ${vkey} ${url}`,
    node: Redacted.value(rpcUrls[0]).host,
  });
  const untilNpxEnds = Effect.as(npxEnded, { kind: "asked", by: "the end of npx" } as const);
  const ending = yield* Effect.raceFirst(awaitEnding, untilNpxEnds);
  yield* ending.kind === "asked"
    ? Effect.logInfo("stopping", { by: ending.by })
    : Effect.logError("stopping after an error that nobody caught", Cause.die(ending.cause));
  yield* limitStop;
  return ending;
}, Effect.scoped);

const serve = Effect.gen(function* () {
  provideSha256(sha256Bun);
  const settings = yield* readLoneWitnessSettings(process.env);
  const lines = logging(settings.logFormat, settings.logLevel);
  return yield* Effect.provide(run(settings), lines);
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
