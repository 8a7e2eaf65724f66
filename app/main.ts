import { Cause, Effect, Exit } from "effect";
import { exitWith, readCommandLine } from "./command-line/command-line.ts";
import { readSettings } from "./config/settings.ts";
import { logging } from "./lifecycle/logging.ts";
import { watchNpx } from "./watch-npx.ts";
import { startService } from "./serve.ts";
import {
  awaitEnding,
  isUnread,
  limitStop,
  startFailureText,
  UNREAD,
} from "./lifecycle/shutdown.ts";
import { welcome } from "./lifecycle/welcome.ts";

const HELP = `Serves the Settlement Evidence API. Without any settings it brings its own ledger.

usage: bun run start

It takes no options; environment variables configure it, and docs/settings.md lists them. Other commands, each
with --help: bun run demo, doctor, deploy, and cli, which lists the rest.
`;

readCommandLine(HELP, {});
// What the service makes, and its ledger's process with it, only its user can read.
process.umask(0o077);

const serve = Effect.gen(function* () {
  const settings = yield* readSettings(process.env);
  const untilRefused = Effect.gen(function* () {
    const service = yield* startService(settings, process.env);
    const { url, metricsUrl, refused } = service;
    const metrics = metricsUrl === null ? {} : { metrics_url: metricsUrl };
    yield* Effect.logInfo("listening", { url, ...metrics });
    if (process.stdout.isTTY && settings.logFormat === "pretty")
      process.stdout.write(welcome(service, settings.ledger.kind));
    return yield* refused;
  });
  const untilNpxEnds = Effect.as(Effect.flatten(watchNpx), {
    kind: "asked",
    by: "the end of npx",
  } as const);
  return yield* Effect.raceAllFirst([awaitEnding, untilNpxEnds, untilRefused]).pipe(
    Effect.tap((ending) =>
      ending.kind === "asked"
        ? Effect.logInfo("stopping", { by: ending.by })
        : Effect.logError("stopping after an error that nobody caught", Cause.die(ending.cause)),
    ),
    Effect.ensuring(limitStop),
    Effect.scoped,
    Effect.tap(Effect.logInfo("stopped")),
    Effect.provide(logging(settings.logFormat, settings.logLevel)),
  );
});

const exit = await Effect.runPromiseExit(serve);
if (Exit.isSuccess(exit)) {
  if (isUnread(exit.value)) exitWith(1, UNREAD);
  process.exit(exit.value.kind === "asked" ? 0 : 1);
}
const failure = Cause.findErrorOption(exit.cause);
exitWith(1, failure._tag === "Some" ? startFailureText(failure.value) : Cause.pretty(exit.cause));
