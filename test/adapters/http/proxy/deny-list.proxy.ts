import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { runs } from "../../../arbitraries/runs.ts";
import { rawAnswer, startListening } from "../support/listening-service.ts";
import { type Nginx, startNginx } from "./nginx.ts";

/** Ways in which an operator may forward requests; SERVICE is the service's address. */
const WAYS = {
  "the caller's own Host": "proxy_pass http://SERVICE; proxy_set_header Host $http_host;",
  "the caller's own Host in HTTP/1.1":
    "proxy_pass http://SERVICE; proxy_http_version 1.1; proxy_set_header Host $http_host;",
  "the Host that nginx has checked": "proxy_pass http://SERVICE; proxy_set_header Host $host;",
  "the service's address as Host": "proxy_pass http://SERVICE;",
  "an upstream's name as Host": "proxy_pass http://settlement_service;",
  "the path as nginx has read it": "proxy_pass http://SERVICE/; proxy_set_header Host $http_host;",
} as const;

/** The operations that the proxy denies. No request through it may reach their routes. */
const DENIED = `
  location = /metrics { deny all; }
  location ^~ /v1/relay { deny all; }
  location = /problems/malformed_json { deny all; }
`;
const DENIED_ROUTES = new Set(["/metrics", "/v1/relay", "/v1/relay/{signature}"]);

const HOSTS = ["a", "", "<s>", "a<s>", "@", "a@b", "[::1", "%2f", "a,b", "*", "a:99999", "\xe9"];
/** Targets that would reach a denied operation if the proxy and the service read them differently. */
const TARGETS = [
  "/console/metrics",
  "/console/v1/relay",
  "/x/console/metrics?x=/metrics",
  "//metrics",
  "///metrics",
  "/./metrics",
  "/x/../metrics",
  "/x/%2e%2e/metrics",
  "/%6detrics",
  "/%2fmetrics",
  "/metrics/",
  "/metrics%2f",
  "/metrics;x",
  "/metrics#x",
  "/#/../metrics",
  "/metrics%23x",
  "/metrics%00",
  "/metrics%3fx",
  "/\\metrics",
  "/x\\..\\metrics",
  "/x\\../metrics",
  "/x/..\\metrics",
  "/x\\%2e%2e\\metrics",
  "/x%5c..%5cmetrics",
  "/x/..;/metrics",
  "/v1\\relay",
  "/v1/x\\..\\relay",
  "/v1/escrows/x\\..\\..\\..\\metrics",
  "/problems/x\\..\\malformed_json",
  "http://a/console/metrics",
  "http://<s>/x\\..\\metrics",
  "http://a//metrics",
];

let service: Awaited<ReturnType<typeof startListening>>;
beforeAll(async () => {
  service = await startListening();
});
afterAll(() => service.close());

/** The answer to a request through nginx, and the routes of the service that it reached. */
const ask = async (nginx: Nginx, target: string, hosts: ReadonlyArray<string>, version = "1.1") => {
  service.lines.length = 0;
  const fields = [...hosts.map((host) => `Host: ${host}`), "Connection: close", "", ""];
  const request = [`GET ${target} HTTP/${version}`, ...fields].join("\r\n");
  const answer = await rawAnswer(nginx.socket, request);
  const routes = service.lines.map(({ parts }) => (parts[1] as { readonly route: string }).route);
  return { status: Number(answer.split(" ")[1]), answer, routes };
};

const expectDenied = ({ answer, routes }: Awaited<ReturnType<typeof ask>>): void => {
  expect(routes.filter((route) => DENIED_ROUTES.has(route))).toEqual([]);
  expect(answer).not.toMatch(/settlement_evidence_|"code":"malformed_json"/);
};

describe.each(Object.entries(WAYS))("behind an nginx that passes on %s", (_, way) => {
  let nginx: Nginx;
  beforeAll(async () => {
    const address = `127.0.0.1:${service.port}`;
    nginx = await startNginx(`
      upstream settlement_service { server ${address}; }
      server {
        LISTEN;
        ${DENIED}
        location / { ${way.replace("SERVICE", address)} }
      }`);
  });
  afterAll(() => nginx.stop());

  test("operations that are not denied are answered, and denied ones are not, although the service has them", async () => {
    for (const version of ["1.0", "1.1"]) {
      const health = await ask(nginx, "/health", ["a.example"], version);
      expect([health.status, health.routes]).toEqual([200, ["/health"]]);
      const metrics = await ask(nginx, "/metrics", ["a.example"], version);
      expect([metrics.status, metrics.routes]).toEqual([403, []]);
    }
    for (const path of ["/metrics", "/v1/relay", "/problems/malformed_json"])
      expect((await fetch(service.url + path)).status).toBe(200);
  });

  test("no target and no Host gets past the deny-list", async () => {
    for (const target of TARGETS)
      for (const host of HOSTS)
        for (const version of ["1.0", "1.1"])
          expectDenied(await ask(nginx, target, [host], version));
  });

  test("no request gets past the deny-list", async () => {
    const pieces = ["/", "\\", "..", ".", "%2e", "%2f", "%5c", ";", "#", "?", "x", "console"];
    const words = ["metrics", "v1", "relay", "problems", "malformed_json", "http://a", "\xe9"];
    const target = fc
      .array(fc.constantFrom(...pieces, ...words), { maxLength: 8 })
      .chain((path) =>
        fc.constantFrom("/metrics", "\\metrics", "", "/relay").map((end) => path.join("") + end),
      );
    const octet = fc.integer({ min: 33, max: 255 });
    const host = fc.oneof(
      fc.constantFrom(...HOSTS),
      fc.array(octet, { maxLength: 12 }).map((bytes) => String.fromCharCode(...bytes)),
    );
    await fc.assert(
      fc.asyncProperty(
        target,
        fc.oneof(fc.constant(["a"]), fc.array(host, { maxLength: 2 })),
        fc.constantFrom("1.0", "1.1"),
        async (path, hosts, version) => expectDenied(await ask(nginx, `/${path}`, hosts, version)),
      ),
      runs(300),
    );
  });

  test("a caller in HTTP/1.0 who names no host is answered", async () => {
    const { status, routes } = await ask(nginx, "/health", [], "1.0");
    // In HTTP/1.1 the proxy itself then asks without a Host, which no server may answer.
    const isHostless = way.includes("1.1") && way.includes("$http_host");
    expect([status, routes]).toEqual(isHostless ? [400, []] : [200, ["/health"]]);
  });
});
