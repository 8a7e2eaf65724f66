import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { runs } from "../../../arbitraries/runs.ts";
import { rawAnswer, startListening } from "../support/listening-service.ts";
import { AGENT, prepareBody } from "../support/parties.ts";
import { checkedClient, problemOf } from "../support/service.ts";

let service: Awaited<ReturnType<typeof startListening>>;
beforeAll(async () => {
  service = await startListening();
});
afterAll(() => service.close());

type Asked = {
  readonly target: string;
  readonly method?: string;
  readonly version?: "1.0" | "1.1";
  /** The values of the request's Host headers. */
  readonly hosts?: ReadonlyArray<string>;
};

let number = 0;

/** Writes a request to the service's port: its answer, and the route that gave it by the service's own log. */
const ask = async ({ target, method = "GET", version = "1.1", hosts = ["localhost"] }: Asked) => {
  const id = `request-${number++}`;
  const fields = [...hosts.map((host) => `Host: ${host}`), `X-Request-Id: ${id}`];
  const head = [`${method} ${target} HTTP/${version}`, ...fields, "Connection: close", "", ""];
  const answer = await rawAnswer(service.port, head.join("\r\n"));
  const line = service.lines.find(
    ({ parts }) => (parts[1] as { request_id?: string } | undefined)?.request_id === id,
  );
  service.lines.length = 0;
  const { route, problem } = (line?.parts[1] ?? {}) as { route?: string; problem?: string };
  return { status: Number(answer.split(" ")[1]), route, problem, answer };
};

/** Status and route of an answer, in words. */
const routed = async (asked: Asked): Promise<string> => {
  const { status, route } = await ask(asked);
  return `${status} ${route ?? "refused unread"}`;
};

describe("a Host header", () => {
  test.each([
    "a",
    "a:80",
    "a:",
    "A.Example:65535",
    "settlement_api:3000",
    "evidence.example.",
    "127.0.0.1:1",
    "[::1]",
    "[::1]:3000",
    "[::ffff:192.0.2.1]",
    `${"a".repeat(63)}.${"b".repeat(63)}`,
    "  padded  ",
  ])("%p is valid", async (host) => {
    expect(await routed({ target: "/idl/custody.json", hosts: [host] })).toBe(
      "200 /idl/custody.json",
    );
    expect(await routed({ target: "/console/metrics", hosts: [host] })).toBe("404 unmatched");
  });

  test.each([
    "",
    " ",
    "<s>",
    "a<s>",
    "/",
    "//a",
    "a/b",
    "a/../metrics",
    "/metrics?",
    "/metrics#",
    "?",
    "a?b",
    "#",
    "a#b",
    "@",
    "user@a",
    "user:password@a",
    "a b",
    "\\",
    "a\\b",
    "%",
    "%2f",
    "%41",
    "é",
    "Ã©.example",
    "a\x7fb",
    'a"b',
    "a{b}",
    "a|b",
    "a,b",
    "a;b",
    "*",
    ".",
    "..",
    "a..b",
    ".a",
    ":80",
    "::1",
    "[::1",
    "[::1]a",
    "[:::]",
    "[a]",
    "a:b",
    "a:-1",
    "a:65536",
    "a:999999",
    "a:80:80",
    "256.1.1.1",
    "xn--",
    "http://a",
    `${"a".repeat(64)}.example`,
  ])("%p is invalid: 400, whatever the target", async (host) => {
    for (const target of ["/metrics", "/console/metrics", "/nothing", `/v1/escrows/${AGENT}`])
      expect(await ask({ target, hosts: [host] })).toMatchObject({
        status: 400,
        route: "unmatched",
        problem: "malformed_host",
      });
    expect(await ask({ target: "/metrics", hosts: [host], version: "1.0" })).toMatchObject({
      status: 400,
      problem: "malformed_host",
    });
  });

  test("that is longer than any name is invalid", async () => {
    for (const host of ["a.".repeat(126) + "aa", "a".repeat(9000), `a:${"0".repeat(6)}`])
      expect(await ask({ target: "/health", hosts: [host] })).toMatchObject({
        status: 400,
        problem: "malformed_host",
      });
    expect((await ask({ target: "/health", hosts: ["a.".repeat(126) + "a"] })).status).toBe(200);
  });

  test.each([
    [["a", "b"]],
    [["a", "a"]],
    [["<s>", "a"]],
    [["a", "<s>"]],
    [["", "a"]],
    [["a", ""]],
    [["a", "b", "c"]],
  ])("%p, repeated, is 400", async (hosts) => {
    for (const version of ["1.0", "1.1"] as const)
      expect(await ask({ target: "/health", hosts, version })).toMatchObject({
        status: 400,
        problem: "malformed_host",
      });
  });

  test("that is missing is 400 in HTTP/1.1", async () => {
    expect((await ask({ target: "/health", hosts: [] })).status).toBe(400);
  });

  test.each([
    ["/health", "200 /health"],
    ["/v1?x=1", "422 /v1"],
    ["/v1/indexer?limit=1", "200 /v1/indexer"],
    [`/v1/escrows/${AGENT}`, "404 /v1/escrows/{pda}"],
    ["/v1/escrows/%ff", "422 /v1/escrows/{pda}"],
    ["/v1/escrows/\xc3\xa9", "422 /v1/escrows/{pda}"],
    ["/console/metrics", "404 unmatched"],
    ["/", "200 /"],
  ])("is not needed in HTTP/1.0: %s is %s", async (target, expected) => {
    expect(await routed({ target, hosts: [], version: "1.0" })).toBe(expected);
    expect(await routed({ target, version: "1.0" })).toBe(expected);
  });

  test("is not needed in HTTP/1.0: a body is read", async () => {
    const body = JSON.stringify(prepareBody());
    const fields = `Content-Type: application/json\r\nContent-Length: ${body.length}`;
    const request = `POST /v1/escrows/prepare HTTP/1.0\r\n${fields}\r\n\r\n${body}`;
    const answer = await rawAnswer(service.port, request);
    expect(answer).toStartWith("HTTP/1.1 200");
    expect(answer).toContain('"escrow_pda"');
  });

  test("that is refused gets a problem document that repeats nothing of it", async () => {
    const { answer } = await ask({ target: "/metrics", hosts: ["<secret>"] });
    const [head = "", body = ""] = answer.split("\r\n\r\n");
    expect(head.toLowerCase()).toContain("content-type: application/problem+json");
    expect(JSON.parse(body)).toMatchObject({
      type: "/problems/malformed_host",
      status: 400,
      code: "malformed_host",
    });
    expect(answer).not.toContain("secret");
    expect(JSON.stringify(service.lines)).not.toContain("secret");
  });

  test("that is refused is answered for every method, without a body for HEAD", async () => {
    const { status, answer } = await ask({ target: "/health", method: "HEAD", hosts: ["<s>"] });
    expect([status, answer.split("\r\n\r\n")[1]]).toEqual([400, ""]);
    for (const method of ["POST", "OPTIONS", "DELETE", "TRACE", "CONNECT"])
      expect((await ask({ target: "/metrics", method, hosts: ["<s>"] })).status).toBe(400);
  });

  test("that is missing makes links relative", async () => {
    const links = async (asked: Partial<Asked>) => {
      const { answer } = await ask({ target: "/.well-known/settlement-evidence.json", ...asked });
      return (JSON.parse(answer.split("\r\n\r\n")[1] ?? "") as { links: { docs: string } }).links;
    };
    expect((await links({ version: "1.0", hosts: [] })).docs).toBe("/docs");
    expect((await links({ hosts: ["a.example:81"] })).docs).toBe("http://a.example:81/docs");
  });

  test("is checked in the process as over a connection, as documented", async () => {
    const { send } = await checkedClient(service);
    for (const path of ["/health", "/v1/indexer", `/v1/escrows/${AGENT}`])
      expect(await problemOf(await send(path, { headers: { host: "<s>" } }))).toBe(
        "400 malformed_host",
      );
    expect((await send("/health", { headers: { host: "a" } })).status).toBe(200);
  });
});

describe("a request's target", () => {
  test.each([
    // Absolute form. Its own authority is ignored too (RFC 9112, section 3.2.2).
    ["http://other.example/health", "200 /health"],
    ["HTTP://other.example/v1?x=1", "422 /v1"],
    ["http://other.example", "200 /"],
    ["http://other.example?x=1", "422 /"],
    ["http://<s>/metrics", "200 /metrics"],
    ["http:///metrics", "200 /metrics"],
    ["ftp://other.example/health", "400 refused unread"],
    // Targets without a path.
    ["*", "400 refused unread"],
    ["a:80", "400 refused unread"],
    ["health", "400 refused unread"],
    ["?x", "400 refused unread"],
    ["\\health", "400 refused unread"],
    // Paths that are not merged, decoded or cut.
    ["//health", "404 unmatched"],
    ["//localhost/health", "404 unmatched"],
    ["/health/", "404 unmatched"],
    ["/health;x", "404 unmatched"],
    ["/health#x", "404 unmatched"],
    ["/#/../health", "404 unmatched"],
    ["/he%61lth", "404 unmatched"],
    ["/v1%2fstatus", "404 unmatched"],
    ["/http://localhost/health", "404 unmatched"],
    ["/health?x=/../metrics", "422 /health"],
    // Targets that a URL parser treats as a step back, and a proxy in front may not.
    ["/x/../metrics", "404 unmatched"],
    ["/./metrics", "404 unmatched"],
    ["/../metrics", "404 unmatched"],
    ["//../metrics", "404 unmatched"],
    ["/%2e%2e/metrics", "404 unmatched"],
    ["/x/%2E./metrics", "404 unmatched"],
    ["/x/..%2fmetrics", "404 unmatched"],
    ["/\\metrics", "404 unmatched"],
    ["/x\\..\\metrics", "404 unmatched"],
    ["/x\\../metrics", "404 unmatched"],
    ["/console\\..\\metrics?x=1", "404 unmatched"],
    ["http://other.example/x/../metrics", "404 unmatched"],
    ["/v1/escrows/..", "404 unmatched"],
    ["/v1/escrows/%2e%2e", "404 unmatched"],
    ["/v1/escrows/.", "404 unmatched"],
    ["/v1/escrows/x\\..\\..\\..\\metrics", "404 unmatched"],
    [`/v1/escrows/x\\..\\${AGENT}`, "404 unmatched"],
    ["/problems/x\\..\\malformed_json", "404 unmatched"],
    ["/problems/malformed_json", "200 /problems/{code}"],
    ["/problems/malformed%5Fjson", "200 /problems/{code}"],
  ])("%s is %s", async (target, expected) => {
    expect(await routed({ target })).toBe(expected);
    expect(await routed({ target, version: "1.0", hosts: [] })).toBe(expected);
  });

  test.each([
    ["CONNECT", "a:80", "404 unmatched"],
    ["CONNECT", "*", "405 unmatched"],
    ["CONNECT", "\\metrics", "405 unmatched"],
    ["CONNECT", "/metrics", "405 unmatched"],
    ["CONNECT", "http://a/x/../metrics", "404 unmatched"],
    ["OPTIONS", "*", "400 refused unread"],
    ["OPTIONS", "/v1/relay", "204 unmatched"],
    ["OPTIONS", "/v1/x/../relay", "404 unmatched"],
    ["POST", "/metrics", "405 unmatched"],
    ["POST", "/x/../metrics", "404 unmatched"],
    ["HEAD", "/health", "200 /health"],
    ["HEAD", "/v1/indexer/sync", "405 unmatched"],
    ["GET", "/v1/escrows/prepare", "405 unmatched"],
    ["DELETE", `/v1/escrows/${AGENT}`, "405 unmatched"],
    ["TRACE", "/health", "405 unmatched"],
    ["PROPFIND", "/health", "405 unmatched"],
  ])("%s %s is %s", async (method, target, expected) => {
    expect(await routed({ method, target })).toBe(expected);
  });

  test("is answered by its own route or with 400, whatever the Host headers hold", async () => {
    const targets: ReadonlyArray<readonly [target: string, route: string]> = [
      ["/metrics", "/metrics"],
      ["/console/metrics", "unmatched"],
      ["/idl/custody.json", "/idl/custody.json"],
      ["/v1/indexer?limit=2", "/v1/indexer"],
      ["/v1/escrows/prepare", "unmatched"],
      [`/v1/escrows/${AGENT}`, "/v1/escrows/{pda}"],
      [`/v1/evidence/${AGENT}/verify`, "unmatched"],
      ["http://other.example/health", "/health"],
      ["/x\\..\\metrics", "unmatched"],
      ["/x/%2e%2e/metrics", "unmatched"],
      ["/", "/"],
    ];
    const pieces = ["a", "<s>", "/", "//", "?", "#", "@", ":", ":80", "[::1]", "[", "..", "\\"];
    const words = ["metrics", "console", "health", "http://", "%2f", "%", " ", ",", "\xe9", "1.2"];
    // Every byte except the two that end a header line.
    const octet = fc.integer({ min: 0, max: 255 }).filter((byte) => byte !== 10 && byte !== 13);
    const host = fc.oneof(
      fc.array(octet, { maxLength: 40 }).map((bytes) => String.fromCharCode(...bytes)),
      fc.array(fc.constantFrom(...pieces, ...words), { maxLength: 6 }).map((of) => of.join("")),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...targets),
        fc.array(host, { maxLength: 3 }),
        fc.constantFrom("1.0" as const, "1.1" as const),
        async ([target, own], hosts, version) => {
          const { status, route, problem } = await ask({ target, hosts, version });
          if (status !== 400) expect(route).toBe(own);
          else if (route !== undefined)
            expect([route, problem]).toEqual(["unmatched", "malformed_host"]);
        },
      ),
      runs(400),
    );
  });
});
