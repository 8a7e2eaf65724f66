import { Cause, Effect, Exit } from "effect";
import { EX_CONFIG, exitWith, readCommandLine } from "./command-line/command-line.ts";
import { readSettings, type Settings } from "./config/settings.ts";
import { logging, warningsAsLines } from "./lifecycle/logging.ts";
import { watchNpx } from "./watch-npx.ts";
import { startService } from "./serve.ts";
import {
  awaitEnding,
  awaitEndingOfParent,
  isUnread,
  limitStop,
  startFailureText,
  UNREAD,
} from "./lifecycle/shutdown.ts";
import { welcome } from "./lifecycle/welcome.ts";

const HELP = `Serves the Settlement Evidence API. Without any settings it brings its own ledger.

usage: bun run start [--workers N]

  --workers N  N processes share the port, as WORKERS=N says, to use as many cores; needs DATABASE_URL and
               SOLANA_RPC_URL   (1)
  --help       this text

Environment variables configure it, and docs/settings.md lists them. Other commands, each with --help: bun run demo,
doctor, deploy, and cli, which lists the rest.
`;

const { values } = readCommandLine(HELP, {
  workers: { type: "string" },
  // By which the process that runs the workers names one of them.
  worker: { type: "string" },
});
const { workers, worker } = values;
if (workers !== undefined) process.env["WORKERS"] = workers;
// What the service makes, and its ledger's process with it, only its user can read.
process.umask(0o077);

/** The service, or what runs its workers, which loads for it alone. */
const started = (settings: Settings) =>
  Effect.gen(function* () {
    if (settings.workers === 1 || worker !== undefined)
      return yield* startService(settings, process.env);
    const { startWorkers } = yield* Effect.promise(() => import("./workers/start-workers.ts"));
    return yield* startWorkers(settings);
  });

const serve = Effect.gen(function* () {
  const settings = yield* readSettings(process.env);
  const untilRefused = Effect.gen(function* () {
    yield* warningsAsLines;
    const service = yield* started(settings);
    const { url, metricsUrl, refused } = service;
    const metrics = metricsUrl === null ? {} : { metrics_url: metricsUrl };
    yield* Effect.logInfo("listening", { url, ...metrics });
    process.send?.({ url, metricsUrl });
    if (process.stdout.isTTY && settings.logFormat === "pretty" && worker === undefined)
      process.stdout.write(welcome(service, settings.ledger.kind));
    return yield* refused;
  });
  const untilNpxEnds = Effect.as(Effect.flatten(watchNpx), {
    kind: "asked",
    by: "the end of npx",
  } as const);
  const endings = worker === undefined ? [awaitEnding, untilNpxEnds] : [awaitEndingOfParent];
  return yield* Effect.raceAllFirst([...endings, untilRefused]).pipe(
    Effect.tap((ending) =>
      ending.kind === "asked"
        ? Effect.logInfo("stopping", { by: ending.by })
        : Effect.logError("stopping after an error that nobody caught", Cause.die(ending.cause)),
    ),
    Effect.ensuring(limitStop),
    Effect.scoped,
    Effect.tap(Effect.logInfo("stopped")),
    Effect.annotateLogs(worker === undefined ? {} : { worker: Number(worker) }),
    Effect.provide(logging(settings.logFormat, settings.logLevel)),
  );
});

const exit = await Effect.runPromiseExit(serve);
if (Exit.isSuccess(exit)) {
  if (isUnread(exit.value)) exitWith(1, UNREAD);
  process.exit(exit.value.kind === "asked" ? (process.exitCode ?? 0) : 1);
}
const failure = Cause.findErrorOption(exit.cause);
if (failure._tag === "None") exitWith(1, Cause.pretty(exit.cause));
// A worker tells so that another one would end as it does.
else exitWith(worker === undefined ? 1 : EX_CONFIG, startFailureText(failure.value));
