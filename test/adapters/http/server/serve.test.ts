import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { Effect, Exit } from "effect";
import { serveHttp } from "../../../../adapters/http/server/serve-http.ts";
import { listeningServices, rawAnswer } from "../support/listening-service.ts";
import { AGENT, prepareBody } from "../support/parties.ts";
import { jsonOf, makeService, problemOf } from "../support/service.ts";
import { createHttpApp } from "../../../../adapters/http/server/http-app.ts";

const listening = listeningServices();

test("a port that is taken is an error that names it, never shared", async () => {
  const { port } = await listening();
  const second = await makeService();
  const exit = await Effect.runPromiseExit(
    Effect.scoped(serveHttp(second.app, { hostname: "127.0.0.1", port })),
  );
  await second.runtime.dispose();
  expect(Exit.findErrorOption(exit)).toMatchObject({
    value: { _tag: "ListenFailed", port, reason: "EADDRINUSE" },
  });
});

test("it answers over a connection as in the process", async () => {
  const { url } = await listening();
  const health = await fetch(`${url}/health`);
  expect([health.status, health.headers.get("x-content-type-options")]).toEqual([200, "nosniff"]);
  const prepared = await fetch(`${url}/v1/escrows/prepare`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(prepareBody()),
  });
  expect(prepared.status).toBe(200);
  const head = await fetch(`${url}/health`, { method: "HEAD" });
  expect([head.status, await head.text()]).toEqual([200, ""]);
  expect(await problemOf(await fetch(`${url}/v1`, { method: "DELETE" }))).toBe(
    "405 method_not_allowed",
  );
});

test.each(['a"<b>', "a b", "[", "a:99999", "%"])(
  "a Host header %p is never the service's fault",
  async (host) => {
    const { port } = await listening();
    const get = `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
    expect(await rawAnswer(port, get)).toMatch(/^HTTP\/1\.1 (200|4\d\d) /);
  },
);

describe("a body that is too large", () => {
  const post = "POST /v1/escrows/prepare HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n";

  test("is refused by its declared length, before any of it is read", async () => {
    const { port } = await listening();
    const answer = await rawAnswer(port, `${post}Content-Length: 1073741824\r\n\r\n{`);
    expect(answer).toStartWith("HTTP/1.1 413");
    expect(answer).toContain('"code":"payload_too_large"');
  });

  test("is refused while it arrives in endless chunks", async () => {
    const { port } = await listening();
    const chunk = `10000\r\n${" ".repeat(65_536)}\r\n`;
    const answer = await rawAnswer(
      port,
      `${post}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(5)}`,
    );
    expect(answer).toStartWith("HTTP/1.1 413");
    expect(answer).toContain('"code":"payload_too_large"');
  });
});

test.each([
  ["two lengths", "Content-Length: 1\r\nContent-Length: 2\r\n"],
  ["a length and chunks", "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n"],
  ["a space before the colon", "X : 1\r\n"],
])("a request with %s is refused and its connection closed", async (_, headers) => {
  const { port } = await listening();
  const answer = await rawAnswer(
    port,
    `POST /v1/relay HTTP/1.1\r\nHost: a\r\n${headers}\r\n0\r\n\r\n`,
  );
  expect(answer).toStartWith("HTTP/1.1 400");
});

test.each([
  ["a header", `GET /health HTTP/1.1\r\nHost: a\r\nX: ${"a".repeat(16_384)}\r\n\r\n`],
  ["a target", `GET /health?${"a".repeat(16_384)} HTTP/1.1\r\nHost: a\r\n\r\n`],
  ["many headers", `GET /health HTTP/1.1\r\nHost: a\r\n${"X: a\r\n".repeat(198)}\r\n`],
  ["a POST's header", `POST /v1/relay HTTP/1.1\r\nHost: a\r\nX: ${"a".repeat(16_384)}\r\n\r\n`],
])("a head that is too large by %s is a 431 without a body", async (_, head) => {
  const { port } = await listening();
  expect(await rawAnswer(port, head)).toMatch(/^HTTP\/1\.1 431 [^\r]+\r\n(?:[^\r]+\r\n)*\r\n$/);
});

describe("trailers behind a body in chunks", () => {
  const chunked = "Host: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
  const prepare = `POST /v1/escrows/prepare HTTP/1.1\r\n${chunked}`;
  const json = JSON.stringify(prepareBody());
  const body = `${json.length.toString(16)}\r\n${json}\r\n`;
  const statusesOf = (answer: string) => answer.match(/HTTP\/1\.1 \d+/g);

  const trailer = "X-Sum: 1\r\n\r\n";
  const ending = `0\r\n${trailer}`;
  const next = "GET /health HTTP/1.1\r\nHost: a\r\n\r\n";

  test.each([
    ["a request", `${prepare}${body}${ending}`],
    ["a request without a use for a body", `GET /health HTTP/1.1\r\n${chunked}${body}${ending}`],
    ["a request to nowhere", `POST /none HTTP/1.1\r\n${chunked}${body}${ending}`],
    ["a request that another one follows", `${prepare}${body}${ending}${next}`],
  ])("that come with %s are refused once, and nothing is run", async (_, bytes) => {
    const { port, lines } = await listening();
    expect(statusesOf(await rawAnswer(port, bytes))).toEqual(["HTTP/1.1 400"]);
    expect(lines.filter(({ parts }) => parts[0] === "request")).toEqual([]);
  });

  test("that come with the last chunk are refused once, and nothing is run", async () => {
    const service = await listening();
    const { handle } = service.app;
    const socket = connect(service.port, "127.0.0.1", () => socket.write(prepare));
    Object.assign(service.app, {
      handle: (...given: Parameters<typeof handle>) => {
        socket.write(`${body}${ending}`);
        return handle(...given);
      },
    });
    let answer = "";
    for await (const chunk of socket) answer += String(chunk);
    expect(statusesOf(answer)).toEqual(["HTTP/1.1 400"]);
    const line = service.lines.find(({ parts }) => parts[0] === "request");
    expect(line?.parts[1]).toMatchObject({ status: 499 });
  });

  test("that come after the answer get none, because the connection is closed", async () => {
    const { port } = await listening();
    const answer = await rawAnswer(port, `${prepare}${body}0\r\n`, trailer);
    expect(statusesOf(answer)).toEqual(["HTTP/1.1 200"]);
    expect(answer.toLowerCase()).toContain("\r\nconnection: close\r\n");
  });

  test("without which the body is taken as any other", async () => {
    const { port } = await listening();
    const answer = await rawAnswer(port, `${prepare}${body}0\r\n\r\n`);
    expect(statusesOf(answer)).toEqual(["HTTP/1.1 200"]);
  });
});

test("stopping answers the requests that have begun and refuses later ones", async () => {
  const service = await listening();
  service.ledger.fault = "hangs";
  const begun = fetch(`${service.url}/v1/status`);
  while (service.ledger.reads === 0) await fetch(`${service.url}/health`);
  const stopped = service.stop();
  expect((await begun).status).toBe(200);
  await stopped;
  expect(fetch(`${service.url}/health`)).rejects.toThrow();
});

test("a path in absolute form is read like any other", async () => {
  const { port } = await listening();
  const request = `GET http://other.example/v1/escrows/${AGENT} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
  expect(await rawAnswer(port, request)).toStartWith("HTTP/1.1 404");
});

test("a listener of their own serves only the metrics, and the main listener does not serve them", async () => {
  const main = await makeService({ serves: "all_but_metrics" });
  const metrics = createHttpApp({ context: main.context, serves: "metrics" });
  const status = async (app: typeof metrics, path: string, method = "GET") =>
    (await app.handle(new Request(`http://localhost${path}`, { method }))).status;

  expect(await status(main.app, "/metrics")).toBe(404);
  expect(await status(main.app, "/metrics", "OPTIONS")).toBe(404);
  expect(await status(main.app, "/v1")).toBe(200);
  const document = await main.app.handle(new Request("http://localhost/openapi.json"));
  const { paths } = await jsonOf<{ readonly paths: object }>(document);
  expect(Object.keys(paths)).not.toContain("/metrics");

  // Its `/` is the operator's page.
  expect(await status(metrics, "/")).toBe(200);
  for (const path of ["/v1", "/health", "/docs", "/docs/json", "/openapi.json", "/v1/relay"])
    expect([path, await status(metrics, path)]).toEqual([path, 404]);
  const answer = await metrics.handle(new Request("http://localhost/metrics"));
  // Both listeners count in the same registry.
  expect(await answer.text()).toContain(
    'settlement_evidence_http_requests_total{method="GET",route="/v1",status="200"} 1',
  );
  await main.runtime.dispose();
});
