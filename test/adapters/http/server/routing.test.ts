import { describe, expect, test } from "bun:test";
import { AGENT } from "../support/parties.ts";
import { jsonOf, makeService, problemOf } from "../support/service.ts";
import { standing } from "../support/standing-service.ts";

const { service, client } = await standing();

describe("paths", () => {
  test.each([
    ["/problems/nothing", "No problem has this code."],
    ["/problems/nothing.md", "No problem has this code."],
    ["/docs/nothing.md", "The documentation has no page of this name."],
    ["/problem/nothing", "No operation has this path."],
  ])("%s is told what is not there", async (path, detail) => {
    expect(await jsonOf(await client.send(path))).toMatchObject({
      status: 404,
      code: "route_not_found",
      detail,
    });
  });

  test.each(["%zz", "%ff", "%00", "a%2Fb", "null", "__proto__", "%F0%9F%92%A9", "x".repeat(5000)])(
    "%s is no escrow address, and no mistake of the service's",
    async (segment) => {
      const response = await client.send(`/v1/escrows/${segment}`);
      expect(await problemOf(response)).toBe("422 invalid_address");
    },
  );

  test("a literal path never matches a template's parameter", async () => {
    const response = await client.send("/v1/escrows/prepare");
    expect(await problemOf(response)).toBe("405 method_not_allowed");
    expect(response.headers.get("allow")).toBe("POST, OPTIONS");
  });
});

test.each(["http://a/v1", "http://api/v1", "http://[::1]/v1", "http://very-long.example:65535/v1"])(
  "%s is found, however long the host's name",
  async (url) => {
    expect((await service.app.handle(new Request(url))).status).toBe(200);
  },
);

describe("methods", () => {
  test.each([
    ["POST", "/health", "GET, HEAD, OPTIONS"],
    ["DELETE", "/v1/relay", "GET, HEAD, POST, OPTIONS"],
    ["PUT", `/v1/escrows/${AGENT}`, "GET, HEAD, OPTIONS"],
    ["PATCH", "/", "GET, HEAD, OPTIONS"],
    ["GET", "/v1/indexer/sync", "POST, OPTIONS"],
    ["HEAD", "/v1/indexer/sync", "POST, OPTIONS"],
    ["PROPFIND", "/v1", "GET, HEAD, OPTIONS"],
  ])("%s %s is a 405 that says what is allowed", async (method, path, allow) => {
    const response = await client.send(path, { method });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe(allow);
  });

  test.each(["/", "/v1", "/v1/relay", `/v1/evidence/${AGENT}`])(
    "OPTIONS %s is a 204 with Allow",
    async (path) => {
      const response = await client.send(path, { method: "OPTIONS" });
      expect(response.status).toBe(204);
      expect(response.headers.get("allow")).toContain("OPTIONS");
    },
  );

  test("OPTIONS of an unknown path is a 404", async () => {
    expect((await client.send("/nothing", { method: "OPTIONS" })).status).toBe(404);
  });

  test("HEAD answers like GET, without the body", async () => {
    for (const path of ["/health", "/v1/indexer", "/v1/escrows/nonsense"]) {
      const get = await client.send(path);
      const head = await client.send(path, { method: "HEAD" });
      expect(head.status).toBe(get.status);
      expect(head.headers.get("content-type")).toBe(get.headers.get("content-type"));
      expect(await head.text()).toBe("");
    }
  });
});

describe("Accept", () => {
  const statusFor = async (accept: string, path = "/v1") =>
    (await client.send(path, { headers: { accept } })).status;

  test.each([
    "*/*",
    "application/*",
    "application/json",
    "APPLICATION/JSON",
    "application/json;q=0.1",
    "text/html, application/xhtml+xml, */*;q=0.8",
    "text/html;q=0, application/json; charset=utf-8",
    "",
  ])("%p gets JSON", async (accept) => {
    expect(await statusFor(accept)).toBe(200);
  });

  test.each([
    "text/html",
    "application/xml",
    "application/json;q=0",
    "*/*;q=0",
    "application/*;q=0.0, text/*",
    "application/json;q=0, */*;q=0.0",
    "nonsense",
  ])("%p accepts no form of this answer: 406", async (accept) => {
    const response = await client.send("/v1", { headers: { accept } });
    expect(await problemOf(response)).toBe("406 not_acceptable");
  });

  test("a browser gets a page at /, everyone else the descriptor", async () => {
    const typeFor = async (accept: string) =>
      (await client.send("/", { headers: { accept } })).headers.get("content-type");
    expect(await typeFor("text/html,application/xhtml+xml,*/*;q=0.8")).toStartWith("text/html");
    expect(await typeFor("*/*")).toBe("application/json");
    expect(await typeFor("application/json, text/html;q=0.9")).toBe("application/json");
    expect((await client.send("/")).headers.get("vary")).toBe("accept");
  });

  test("problem pages come as JSON, HTML and Markdown", async () => {
    const typeFor = async (accept: string) =>
      (await client.send("/problems/task_required", { headers: { accept } })).headers
        .get("content-type")
        ?.split(";")[0];
    expect(await typeFor("*/*")).toBe("application/json");
    expect(await typeFor("text/html")).toBe("text/html");
    expect(await typeFor("text/markdown")).toBe("text/markdown");
    expect(await typeFor("text/html;q=0.5, text/markdown")).toBe("text/markdown");
  });
});

describe("every answer", () => {
  const answers = () =>
    Promise.all([
      client.send("/health"),
      client.send("/nothing"),
      client.send("/v1/escrows/x"),
      client.send("/v1", { method: "OPTIONS" }),
      client.send("/docs"),
      client.postJson("/v1/escrows/prepare", {}),
    ]);

  test("carries the security headers", async () => {
    for (const { headers } of await answers()) {
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("content-security-policy")).toStartWith("default-src 'none'");
      expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    }
  });

  test("carries the caller's request id when it is a sane token", async () => {
    for (const id of ["abc-1", "A._-9", "x".repeat(36)]) {
      const { headers } = await client.send("/health", { headers: { "x-request-id": id } });
      expect(headers.get("x-request-id")).toBe(id);
    }
  });

  test("carries a new request id when the caller's is not sane", async () => {
    for (const id of ["", "a b", "a/b", "é", "<script>", "x".repeat(37)]) {
      const { headers } = await client.send("/nothing", { headers: { "x-request-id": id } });
      expect(headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  test("a problem repeats its request id and leads to its explanation", async () => {
    const response = await client.send("/v1/escrows/x", { headers: { "x-request-id": "r-1" } });
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(await response.json()).toEqual({
      type: "/problems/invalid_address",
      title: "An address is malformed",
      status: 422,
      detail: "An address is not valid.",
      instance: "/problems/invalid_address#r-1",
      code: "invalid_address",
      cure: "Correct the addresses that `errors` names.",
      request_id: "r-1",
      errors: [{ pointer: "/pda", detail: "must be a base58 address of 32 bytes" }],
    });
    expect((await client.send("/problems/invalid_address")).status).toBe(200);
  });
});

describe("CORS", () => {
  const origin = "https://app.example";
  const allowed = (response: Response) => response.headers.get("access-control-allow-origin");
  const preflight = (method: string) => ({
    method: "OPTIONS",
    headers: { origin, "access-control-request-method": method },
  });

  test("by default reads and prepare are open to any page, relay and sync to none", async () => {
    expect(allowed(await client.send("/v1", { headers: { origin } }))).toBe("*");
    expect(allowed(await client.postJson("/v1/escrows/prepare", {}, { origin }))).toBe("*");
    expect(allowed(await client.postJson("/v1/relay", {}, { origin }))).toBeNull();
    const relay = await client.send("/v1/relay", preflight("POST"));
    expect(allowed(relay)).toBeNull();
    const read = await client.send("/v1/relay", preflight("GET"));
    expect(allowed(read)).toBe("*");
    expect(read.headers.get("access-control-allow-methods")).toBe("GET, HEAD, POST, OPTIONS");
    expect(read.headers.get("access-control-allow-headers")).toContain("content-type");
    // A page that reads the stream with fetch sends the last id itself, as a browser's EventSource does.
    const stream = await client.send("/v1/indexer/events/stream", preflight("GET"));
    expect(stream.headers.get("access-control-allow-headers")).toContain("last-event-id");
  });

  test("a page can read the headers that a client needs", async () => {
    const { headers } = await client.send("/v1", { headers: { origin } });
    for (const name of ["etag", "ratelimit", "ratelimit-policy", "retry-after", "x-request-id"])
      expect(headers.get("access-control-expose-headers")).toContain(name);
    expect(headers.get("access-control-allow-credentials")).toBeNull();
  });

  test("origins that are named may do everything, others nothing", async () => {
    const named = await makeService({ corsOrigins: [origin] });
    const send = async (path: string, from: string) =>
      named.app.handle(new Request(`http://localhost${path}`, { headers: { origin: from } }));
    const own = await send("/v1", origin);
    expect([allowed(own), own.headers.get("vary")]).toEqual([origin, "origin"]);
    const strange = await send("/v1", "https://other.example");
    expect([allowed(strange), strange.headers.get("vary")]).toEqual([null, "origin"]);
    expect((await send("/", origin)).headers.get("vary")).toBe("origin, accept");
    await named.runtime.dispose();
  });
});
