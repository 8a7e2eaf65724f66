import { Clock, Context, Duration, Effect, Layer, Logger, Option, Redacted, Tracer } from "effect";
import * as FetchHttpClient from "effect/http/FetchHttpClient";
import * as HttpClient from "effect/http/HttpClient";
import * as HttpClientError from "effect/http/HttpClientError";
import { OtlpExporter, OtlpLogger, OtlpSerialization, OtlpTracer } from "effect/observability";
import packageJson from "../../package.json";
import type { TelemetrySettings } from "../config/settings.ts";
import { lineAsJson } from "./logging.ts";

/** How long a collector may take to answer. */
const ANSWER_WITHIN = Duration.seconds(2);

/** How long the stop of a service waits for its last spans to be taken. */
const LAST_WITHIN = Duration.millis(500);

/** A collector that does not answer is told of once in this time, milliseconds. */
const WARN_EVERY_MS = 60_000;

/** The attribute that names a span's escrow. */
const ESCROW = "escrow";

/**
 * The span that all operations on an escrow stand below, in whatever process they ran. Nobody records it. Its trace is
 * the first 16 bytes of the SHA-256 of the address as text, its own id the 8 that follow (docs/operating.md, "Traces").
 */
const spanOfEscrow = (address: string): Tracer.ExternalSpan => {
  const hash = new Bun.CryptoHasher("sha256").update(address).digest("hex");
  return Tracer.externalSpan({ traceId: hash.slice(0, 32), spanId: hash.slice(32, 48) });
};

type SpanOptions = Parameters<Tracer.Tracer["span"]>[0];

/**
 * A tracer whose requests can be found by escrow. An escrow that any span names is an attribute of its request's span
 * as well. At its end that span is recorded once more in the escrow's own trace, with a link to the request's: which
 * escrow a request is about may be known only long after its trace has begun.
 */
const tracerByEscrow = (tracer: Tracer.Tracer): Tracer.Tracer => {
  const record = (
    span: Tracer.Span,
    { startTime }: SpanOptions,
    ending: Parameters<Tracer.Span["end"]>,
  ) => {
    const address = span.attributes.get(ESCROW);
    if (typeof address !== "string") return;
    const again = tracer.span({
      name: span.name,
      parent: Option.some(spanOfEscrow(address)),
      annotations: Context.empty(),
      links: [{ span, attributes: {} }],
      startTime,
      kind: span.kind,
      root: false,
      sampled: span.sampled,
    });
    for (const [name, value] of span.attributes) again.attribute(name, value);
    again.end(...ending);
  };
  const roots = new WeakMap<Tracer.AnySpan, Tracer.Span>();
  return Tracer.make({
    span: (options) => {
      const span = tracer.span(options);
      const root = Option.match(options.parent, {
        onNone: () => span,
        onSome: (parent) => roots.get(parent) ?? span,
      });
      roots.set(span, root);
      const attribute = span.attribute.bind(span);
      span.attribute = (name, value) => {
        attribute(name, value);
        if (name === ESCROW && root !== span) root.attribute(name, value);
      };
      if (root !== span) return span;
      const end = span.end.bind(span);
      span.end = (...ending) => {
        const isFirst = span.status._tag === "Started";
        end(...ending);
        if (isFirst) record(span, options, ending);
      };
      return span;
    },
  });
};

/** A client of a collector that gives up soon, follows no redirect with its token, and tells of failures. */
const collectorClient = (host: string) =>
  Effect.map(HttpClient.HttpClient, (client) => {
    let warnedMs = -Infinity;
    const warn = (reason: string) =>
      Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
        if (nowMs - warnedMs < WARN_EVERY_MS) return Effect.void;
        warnedMs = nowMs;
        return Effect.logWarning("the collector takes no traces and logs", { host, reason });
      });
    return HttpClient.transform(client, (answer, request) =>
      answer.pipe(
        Effect.tap((response) => Effect.ignore(response.arrayBuffer)),
        Effect.timeoutOrElse({
          duration: ANSWER_WITHIN,
          orElse: () =>
            Effect.fail(
              new HttpClientError.HttpClientError({
                reason: new HttpClientError.TransportError({ request, description: "no answer" }),
              }),
            ),
        }),
        Effect.tap(({ status }) => (status < 300 ? Effect.void : warn(`status ${status}`))),
        Effect.tapError(() => warn("no answer")),
      ),
    );
  });

/**
 * Exports spans and log lines to a collector over OTLP/HTTP as JSON. Nothing waits for it but the stop, half a second.
 * While it does not answer, spans and lines are dropped, and a warning says so once a minute.
 */
export const telemetry = ({ endpoint, headers }: TelemetrySettings): Layer.Layer<never> => {
  const base = endpoint.href.replace(/\/$/, "");
  const options = {
    headers: Redacted.value(headers),
    resource: {
      serviceName: packageJson.name,
      serviceVersion: packageJson.version,
      attributes: { "service.instance.id": crypto.randomUUID() },
    },
    shutdownTimeout: LAST_WITHIN,
  };
  const logger = Effect.map(OtlpLogger.make({ ...options, url: `${base}/v1/logs` }), (exporter) =>
    Logger.make<unknown, void>((line) => {
      exporter.log({ ...line, message: lineAsJson(line) });
    }),
  );
  const tracer = Effect.map(
    OtlpTracer.make({ ...options, url: `${base}/v1/traces` }),
    tracerByEscrow,
  );
  return Layer.merge(
    Logger.layer([logger], { mergeWithExisting: true }),
    Layer.effect(Tracer.Tracer, tracer),
  ).pipe(
    Layer.provide(Layer.effect(HttpClient.HttpClient, collectorClient(endpoint.host))),
    Layer.provide(FetchHttpClient.layer),
    Layer.provide(Layer.succeed(FetchHttpClient.RequestInit, { redirect: "error" })),
    Layer.provide(OtlpExporter.layerFlusher),
    Layer.provide(OtlpSerialization.layerJson),
  );
};
