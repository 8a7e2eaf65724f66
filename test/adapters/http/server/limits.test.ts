import { describe, expect, test } from "bun:test";
import {
  clientKey,
  requestOrigin,
  trustedProxies,
} from "../../../../adapters/http/request/request-origin.ts";
import { prepareBody } from "../support/parties.ts";
import { checkedClient, makeService, makeSyncedService, problemOf } from "../support/service.ts";
import { patientClock } from "../../../doubles/patient-clock.ts";

/** A service whose clock stands still, so that each answer names the whole window. */
const stillService = (limit: number) => makeService({ limit, clock: patientClock() });

describe("rate limits", () => {
  test("each answer of a limited route says what is left, and the last is a 429", async () => {
    const service = await stillService(3);
    const { send, postJson } = await checkedClient(service);
    const left = async () => {
      const { status, headers } = await send("/v1");
      return [status, headers.get("ratelimit"), headers.get("ratelimit-policy")];
    };
    const policy = '"reads";q=3;w=60';
    expect(await left()).toEqual([200, '"reads";r=2;t=60', policy]);
    expect(await left()).toEqual([200, '"reads";r=1;t=60', policy]);
    expect((await send("/v1/escrows/x")).headers.get("ratelimit")).toStartWith('"reads";r=0');
    const refused = await send("/v1");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(refused.headers.get("ratelimit")).toStartWith('"reads";r=0');
    expect(await problemOf(refused)).toBe("429 rate_limited");
    const prepared = await postJson("/v1/escrows/prepare", prepareBody());
    expect(prepared.headers.get("ratelimit")).toStartWith('"prepare";r=2');
    await service.runtime.dispose();
  });

  test("a caller over the limit is refused before the body is read", async () => {
    const service = await makeService({ limit: 0 });
    const { send } = await checkedClient(service);
    const init = { method: "POST", body: "not json" };
    expect(await problemOf(await send("/v1/relay", init))).toBe("429 rate_limited");
    await service.runtime.dispose();
  });

  describe("a request with a body costs one point, plus one for each further 8 KiB or part of them", () => {
    const PREPARE = "/v1/escrows/prepare";
    const spent = async (bytes: number, isDeclared: boolean, limit = 100) => {
      const service = await stillService(limit);
      const { send } = await checkedClient(service);
      const body = JSON.stringify(prepareBody()).padEnd(bytes);
      const headers: Record<string, string> = { "content-type": "application/json" };
      if (isDeclared) headers["content-length"] = String(bytes);
      const response = await send(PREPARE, { method: "POST", body, headers });
      await service.runtime.dispose();
      return [response.status, response.headers.get("ratelimit")];
    };

    test.each([true, false])("with its length declared: %p", async (isDeclared) => {
      const costs = [
        [0, 1],
        [8192, 1],
        [8193, 2],
        [32_768, 4],
        [262_144, 32],
      ] as const;
      for (const [bytes, cost] of costs)
        expect([bytes, ...(await spent(bytes, isDeclared))]).toEqual([
          bytes,
          200,
          `"prepare";r=${100 - cost};t=60`,
        ]);
    });

    test("it is never more than a whole budget, so that waiting always helps", async () => {
      expect(await spent(262_144, true, 3)).toEqual([200, '"prepare";r=0;t=60']);
      expect(await spent(262_144, false, 3)).toEqual([200, '"prepare";r=0;t=60']);
    });

    test("a budget that has less left refuses it and keeps what it has", async () => {
      const service = await stillService(5);
      const { send } = await checkedClient(service);
      const post = (bytes: number) =>
        send(PREPARE, {
          method: "POST",
          body: JSON.stringify(prepareBody()).padEnd(bytes),
          headers: { "content-type": "application/json", "content-length": String(bytes) },
        });
      expect((await post(16_384)).headers.get("ratelimit")).toBe('"prepare";r=3;t=60');
      const refused = await post(32_768);
      expect(refused.headers.get("ratelimit")).toStartWith('"prepare";r=3;t=');
      expect(await problemOf(refused)).toBe("429 rate_limited");
      expect((await post(16_384)).status).toBe(200);
      await service.runtime.dispose();
    });

    test("a body that is too large is refused unread, for one point", async () => {
      const service = await makeService({ limit: 5 });
      const { send } = await checkedClient(service);
      const headers = { "content-type": "application/json", "content-length": "1000000000" };
      const refused = await send(PREPARE, { method: "POST", headers });
      expect(refused.headers.get("ratelimit")).toStartWith('"prepare";r=4;t=');
      expect(await problemOf(refused)).toBe("413 payload_too_large");
      await service.runtime.dispose();
    });
  });

  test("health, docs and problem pages are never limited", async () => {
    const service = await makeSyncedService({ limit: 0 });
    const { send } = await checkedClient(service);
    for (const path of ["/health", "/ready", "/docs", "/metrics", "/problems/rate_limited"]) {
      const response = await send(path);
      expect([path, response.status, response.headers.get("ratelimit")]).toEqual([path, 200, null]);
    }
    await service.runtime.dispose();
  });

  test("clients are told apart by their connection's address", async () => {
    const service = await makeService({ limit: 1 });
    const from = async (address: string) => {
      const connection = { address, allowSeconds: () => undefined };
      return (await service.app.handle(new Request("http://localhost/v1"), connection)).status;
    };
    expect([await from("192.0.2.1"), await from("192.0.2.2"), await from("192.0.2.1")]).toEqual([
      200, 200, 429,
    ]);
    expect([await from("2001:db8::1"), await from("2001:db8::2")]).toEqual([200, 429]);
    await service.runtime.dispose();
  });
});

describe("the client behind proxies", () => {
  const key = clientKey(trustedProxies(["10.0.0.0/8", "192.0.2.7", "fd00::/8"]));
  const of = (peer: string | null, forwarded?: string) =>
    key(
      new Request("http://localhost/", {
        headers: forwarded === undefined ? {} : { "x-forwarded-for": forwarded },
      }),
      peer,
    );

  test("X-Forwarded-For of an untrusted peer is ignored", () => {
    expect(of("203.0.113.5", "198.51.100.1")).toBe("203.0.113.5");
  });

  test("X-Forwarded-For of a trusted proxy counts, from its end back to the first untrusted address", () => {
    expect(of("10.1.2.3", "198.51.100.1")).toBe("198.51.100.1");
    expect(of("10.1.2.3", "1.1.1.1, 198.51.100.1, 10.9.9.9")).toBe("198.51.100.1");
    expect(of("::ffff:10.1.2.3", "198.51.100.1")).toBe("198.51.100.1");
    expect(of("fd00::1", "2001:db8::5")).toBe("2001:db8::5");
    expect(of("192.0.2.7", "::ffff:198.51.100.1")).toBe("198.51.100.1");
  });

  test("a value that is not an address ends the search", () => {
    expect(of("10.1.2.3", "198.51.100.1, nonsense, 10.9.9.9")).toBe("10.9.9.9");
    expect(of("10.1.2.3", "")).toBe("10.1.2.3");
    expect(of("10.1.2.3")).toBe("10.1.2.3");
    expect(of(null, "198.51.100.1")).toBe("unknown");
  });

  test.each(["10.0.0.0/33", "nonsense", "10.0.0.0/8/8", "10.0.0.0/-1", "::/129", ""])(
    "%p is refused as a trusted proxy",
    (entry) => {
      expect(() => trustedProxies([entry])).toThrow("not an IP address or CIDR block");
    },
  );
});

describe("the address under which the service is reached", () => {
  const origin = requestOrigin(trustedProxies(["10.0.0.0/8"]));
  const of = (peer: string | null, headers: Record<string, string>) =>
    origin(new Request("http://inner:3000/v1", { headers }), peer);
  const forwarded = { "x-forwarded-proto": "https", "x-forwarded-host": "evidence.example" };

  test("is the request's own, whatever an untrusted peer forwards", () => {
    expect(of(null, forwarded)).toBe("http://inner:3000");
    expect(of("203.0.113.5", forwarded)).toBe("http://inner:3000");
  });

  test("is the one a trusted proxy forwards, if that is valid", () => {
    expect(of("10.1.1.1", forwarded)).toBe("https://evidence.example");
    expect(of("10.1.1.1", { "x-forwarded-proto": "https" })).toBe("https://inner:3000");
    for (const bad of ["a/b", "a b", "<x>", "user@host", "h:999999"])
      expect(of("10.1.1.1", { ...forwarded, "x-forwarded-host": bad })).toBe("https://inner:3000");
    expect(of("10.1.1.1", { "x-forwarded-proto": "javascript" })).toBe("http://inner:3000");
  });

  test("is relative when the caller's Host header is invalid", () => {
    const request = { url: 'http://evil"<x>/', headers: new Headers() } as Request;
    expect(origin(request, null)).toBe("");
  });
});
