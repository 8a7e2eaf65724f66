import { describe, expect, test } from "bun:test";
import { Effect, Exit } from "effect";
import { serveHttp } from "../../../../adapters/http/server/serve-http.ts";
import { listeningServices, rawAnswer } from "../support/listening-service.ts";
import { AGENT, prepareBody } from "../support/parties.ts";
import { makeService, problemOf } from "../support/service.ts";

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
