import { Cause, Effect, Layer, Logger, type LogLevel, References, type Scope } from "effect";
import { foreignLines, foreignText } from "../../core/domain/encoding/foreign-text.ts";
import type { Settings } from "../config/settings.ts";

/** The form of log lines: text for a terminal, or one JSON object per line. */
export type LogFormat = "pretty" | "json";

/** The form of log lines where none is configured. */
export const usualLogFormat = (): LogFormat => (process.stdout.isTTY ? "pretty" : "json");

/** The log levels, by their name in configuration and log lines. */
export const LOG_LEVELS = {
  debug: "Debug",
  info: "Info",
  warn: "Warn",
  error: "Error",
} as const satisfies Record<string, LogLevel.LogLevel>;

type Line = {
  readonly time: string;
  readonly level: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
};

/** Makes values fit for JSON, which has no bigint and prints errors as `{}`. */
const plain = (_key: string, value: unknown): unknown => {
  if (typeof value === "bigint") return value.toString();
  return value instanceof Error ? `${value.name}: ${value.message}` : value;
};

const asText = (part: unknown): string =>
  typeof part === "string" ? part : JSON.stringify(part, plain);

const isFields = (part: unknown): part is Readonly<Record<string, unknown>> =>
  typeof part === "object" && part !== null && Object.getPrototypeOf(part) === Object.prototype;

/** Plain objects among the logged values become fields. All else is joined to the message. */
const lineOf = (options: Logger.Options<unknown>): Line => {
  const parts = Array.isArray(options.message) ? options.message : [options.message];
  const cause = options.cause.reasons.length === 0 ? {} : { cause: Cause.pretty(options.cause) };
  return {
    time: options.date.toISOString(),
    level: options.logLevel.toLowerCase(),
    message: parts
      .filter((part) => !isFields(part))
      .map(asText)
      .join(" "),
    fields: Object.assign(
      {},
      options.fiber.getRef(References.CurrentLogAnnotations),
      ...parts.filter(isFields),
      cause,
    ),
  };
};

/** The most characters of one field in a line for people; JSON lines hold all. */
const MOST_OF_FIELD = 2_000;

/**
 * One line: time of day, level, message, then `name=value` for each field. What came from outside stays in its line and
 * moves nothing on a terminal.
 */
const prettyLine = (line: Line): string => {
  const fields = Object.entries(line.fields)
    .filter(([name]) => name !== "cause")
    .map(([name, value]) => ` ${name}=${foreignText(asText(value), MOST_OF_FIELD)}`);
  const cause =
    line.fields["cause"] === undefined ? "" : `\n${foreignLines(asText(line.fields["cause"]))}`;
  const time = line.time.slice(11, 23);
  return `${time} ${line.level.toUpperCase().padEnd(5)} ${foreignLines(line.message)}${fields.join("")}${cause}`;
};

/** One JSON object: `time` (RFC 3339), `level`, `message`, then the fields, which cannot replace those three. */
const jsonLine = ({ fields, ...line }: Line): string =>
  JSON.stringify({ ...line, ...fields, ...line }, plain);

/** A log line as one JSON object, as standard output has it. */
export const lineAsJson = (options: Logger.Options<unknown>): string => jsonLine(lineOf(options));

/** Writes every log line at `level` or above, with its newline, to standard output unless `write` says where. */
export const logging = (
  format: LogFormat,
  level: keyof typeof LOG_LEVELS,
  write: (line: string) => void = (line) => void process.stdout.write(line),
): Layer.Layer<never> => {
  const render = format === "json" ? jsonLine : prettyLine;
  const logger = Logger.make<unknown, void>((options) => {
    write(`${render(lineOf(options))}\n`);
  });
  return Layer.merge(
    Logger.layer([logger]),
    Layer.succeed(References.MinimumLogLevel, LOG_LEVELS[level]),
  );
};

/**
 * Until the scope closes, what a library warns of on the console is a log line: Bun does so of a subscription to
 * PostgreSQL that it renews.
 */
export const warningsAsLines: Effect.Effect<void, never, Scope.Scope> = Effect.gen(function* () {
  const fork = Effect.runForkWith(yield* Effect.context());
  const { warn } = console;
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      console.warn = (...parts: ReadonlyArray<unknown>) =>
        void fork(Effect.logWarning(parts.map(asText).join(" ")));
    }),
    () => Effect.sync(() => void (console.warn = warn)),
  );
});

/** As `logging`, and traces and lines go to a collector as well where one is configured; what sends them loads then. */
export const observing = (
  { logFormat, logLevel, telemetry }: Pick<Settings, "logFormat" | "logLevel" | "telemetry">,
  write?: (line: string) => void,
): Layer.Layer<never> => {
  const written = logging(logFormat, logLevel, write);
  if (telemetry === null) return written;
  const exported = Effect.promise(() => import("./telemetry.ts"));
  return Layer.provideMerge(
    Layer.unwrap(Effect.map(exported, (module) => module.telemetry(telemetry))),
    written,
  );
};
