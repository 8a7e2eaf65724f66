import { afterEach, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { runDemo } from "../../../app/demo/run-demo.ts";
import { silentNarrator } from "../commands/silent-narrator.ts";
import { startShortLivedService } from "../support/service-process.ts";
import { withDemoLedger } from "../support/demo-ledger.ts";
import {
  quietEnvironment,
  runService,
  temporaryDirectory,
  untilReady,
} from "../support/running-service.ts";

type Attribute = { readonly key: string; readonly value: Readonly<Record<string, unknown>> };
type Span = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: ReadonlyArray<Attribute>;
  readonly links: ReadonlyArray<{ readonly traceId: string; readonly spanId: string }>;
};
type Traces = {
  readonly resourceSpans: ReadonlyArray<{
    readonly resource: { readonly attributes: ReadonlyArray<Attribute> };
    readonly scopeSpans: ReadonlyArray<{ readonly spans: ReadonlyArray<Span> }>;
  }>;
};
type Received = { readonly path: string; readonly token: string | null; readonly text: string };

const TOKEN = "Bearer only-for-the-collector";
const ends: Array<() => Promise<void>> = [];

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** A collector that keeps what it is sent, and answers with `answer`. */
const collector = (answer: () => Promise<Response> | Response) => {
  const received: Array<Received> = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      const token = request.headers.get("authorization");
      received.push({ path: new URL(request.url).pathname, token, text: await request.text() });
      return answer();
    },
  });
  ends.push(() => server.stop(true));
  return { received, url: `http://127.0.0.1:${server.port}` };
};

/** The settings of a service on the demo data's ledger. */
const settingsWith = async (env: Readonly<Record<string, string>>) => {
  const directory = await temporaryDirectory();
  ends.push(directory.remove);
  const dataDir = withDemoLedger(join(directory.path, "data"));
  return { ...quietEnvironment(dataDir), LOG_LEVEL: "info", ...env };
};

const attributesOf = (attributes: ReadonlyArray<Attribute>) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

test("one trace has an escrow's life from prepare to packet, also what the worker that syncs does, and the collector learns no secret", async () => {
  const { received, url } = collector(() => new Response("{}"));
  const service = startShortLivedService(
    await settingsWith({
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=${encodeURIComponent(TOKEN)}`,
    }),
  );
  ends.push(async () => service.kill("SIGKILL"));
  await untilReady(await service.url);
  const { released } = await runDemo(await service.url, silentNarrator);
  service.kill("SIGTERM");
  expect((await service.ended).code).toBe(0);

  expect(new Set(received.map(({ path }) => path))).toEqual(new Set(["/v1/traces", "/v1/logs"]));
  expect(received.filter(({ token }) => token !== TOKEN)).toEqual([]);
  const text = received.map((each) => each.text).join("\n");
  expect(text).not.toContain("only-for-the-collector");
  expect(text).not.toContain("signed_transaction");

  const resources = received
    .filter(({ path }) => path === "/v1/traces")
    .flatMap((each) => (JSON.parse(each.text) as Traces).resourceSpans);
  expect(attributesOf(resources[0]?.resource.attributes ?? [])).toMatchObject({
    "service.name": "settlement-evidence",
    "service.version": expect.any(String),
    "service.instance.id": expect.stringMatching(/^[0-9a-f-]{36}$/),
  });
  const spans = resources.flatMap(({ scopeSpans }) => scopeSpans.flatMap((each) => each.spans));
  const hash = createHash("sha256").update(released).digest("hex");
  const life = spans.filter(({ traceId }) => traceId === hash.slice(0, 32));
  const names = life.map(({ name }) => name);
  // Its creation and its release.
  expect(names.filter((name) => name === "relayTransaction")).toHaveLength(2);
  for (const name of ["prepareEscrow", "readEscrow", "buildEvidence"])
    expect(names).toContain(name);
  // The index has its creation, and then its release, where no sync has found both.
  expect([1, 2]).toContain(names.filter((name) => name === "indexEscrow").length);
  for (const { name, attributes, parentSpanId, links } of life) {
    const { escrow, request_id: _, ...others } = attributesOf(attributes);
    expect({ escrow, parentSpanId }).toEqual({
      escrow: released,
      parentSpanId: hash.slice(32, 48),
    });
    expect(Object.keys(others).toSorted()).toEqual(
      name === "indexEscrow" ? ["position"] : ["http.request.method", "http.route"],
    );
    // The request's own trace has the details: the node calls among them.
    const own = spans.find(({ spanId }) => spanId === links[0]?.spanId);
    expect(own?.traceId).toBe(links[0]?.traceId ?? "");
    expect(attributesOf(own?.attributes ?? [])).toMatchObject({ escrow: released });
    if (name !== "indexEscrow") continue;
    // One sync indexes several escrows, so that its trace is linked from each.
    const sync = spans.filter(({ traceId }) => traceId === own?.links[0]?.traceId);
    expect(sync.map((span) => span.name)).toEqual(
      expect.arrayContaining(["applyEvents", "syncIndex"]),
    );
  }
}, 90_000);

test("a collector that never answers delays neither an answer nor the stop", async () => {
  const asked = Promise.withResolvers<void>();
  const { url } = collector(() => {
    asked.resolve();
    return new Promise<Response>(() => undefined);
  });
  const service = await runService(await settingsWith({ OTEL_EXPORTER_OTLP_ENDPOINT: url }));
  await untilReady(service.url);
  await asked.promise;
  expect((await fetch(`${service.url}/v1/status`)).status).toBe(200);
  await service.stop();
}, 60_000);
