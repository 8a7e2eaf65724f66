import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { runs } from "../../../arbitraries/runs.ts";
import { prepareBody } from "../support/parties.ts";
import { errorsOf, jsonOf, makeSyncedService, problemOf } from "../support/service.ts";
import { standing } from "../support/standing-service.ts";

const PREPARE = "/v1/escrows/prepare";

const { service, client } = await standing(makeSyncedService());

const post = (body: BodyInit, headers: Record<string, string>) =>
  client.send(PREPARE, { method: "POST", body, headers });

const faultsOf = async (change: Record<string, unknown>) => {
  const response = await client.postJson(PREPARE, { ...prepareBody(), ...change });
  expect(response.status).toBe(422);
  return errorsOf(response);
};

const faults = async (path: string) => {
  const response = await client.send(path);
  expect(response.status).toBe(422);
  return errorsOf(response);
};

describe("a body's media type", () => {
  test.each([
    "application/json",
    "Application/JSON",
    "application/json; charset=utf-8",
    'application/json;charset="UTF-8"',
  ])("%s is accepted", async (type) => {
    const response = await post(JSON.stringify(prepareBody()), { "content-type": type });
    expect(response.status).toBe(200);
  });

  test.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/json; charset=utf-16",
    "application/json; charset=latin1",
    "application/jsonx",
  ])("%s is a 415", async (type) => {
    const response = await post(JSON.stringify(prepareBody()), { "content-type": type });
    expect(await problemOf(response)).toBe("415 unsupported_media_type");
  });
});

test("the check of media types agrees with one regular expression for all of them", async () => {
  const whole = /^\s*application\/json\s*(?:;\s*charset\s*=\s*(?:"utf-8"|utf-8)\s*)?;?\s*$/i;
  const part = fc.constantFrom(
    "application/json",
    "Charset",
    "=",
    "utf-8",
    '"UTF-8"',
    ";",
    " ",
    "x",
  );
  const usual = fc.constantFrom("application/json", "application/json;charset=utf-8");
  const given = fc
    .tuple(usual, fc.array(part, { maxLength: 4 }), fc.nat({ max: 31 }))
    .map(([type, parts, at]) => type.slice(0, at) + parts.join("") + type.slice(at));
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        given,
        fc.array(part).map((parts) => parts.join("")),
      ),
      async (type) => {
        const { status } = await post("{}", { "content-type": type });
        expect([type, status]).toEqual([type, whole.test(type.trim()) ? 422 : 415]);
      },
    ),
    runs(300),
  );
});

describe("a header of 200,000 spaces is judged at once", () => {
  const spaces = " ".repeat(200_000);

  test.each([
    ["content-type", `application/json${spaces}x`],
    ["content-type", `application/json;charset=utf-8${spaces}x`],
    ["content-encoding", `${"\u00a0".repeat(200_000)}x`],
  ])("%s", async (name, value) => {
    const headers = { "content-type": "application/json", [name]: value };
    expect(await problemOf(await post(JSON.stringify(prepareBody()), headers))).toBe(
      "415 unsupported_media_type",
    );
  });
});

describe("a body's content coding", () => {
  const coded = (coding: string) =>
    post(JSON.stringify(prepareBody()), {
      "content-type": "application/json",
      "content-encoding": coding,
    });

  test.each(["identity", "Identity", ""])("%p is accepted", async (coding) => {
    expect((await coded(coding)).status).toBe(200);
  });

  test.each(["gzip", "br", "identity, gzip", "nonsense"])("%s is a 415", async (coding) => {
    const response = await coded(coding);
    expect(response.status).toBe(415);
    expect(await jsonOf(response)).toMatchObject({
      code: "unsupported_media_type",
      detail: "The body must be sent as it is, without a Content-Encoding.",
    });
  });
});

describe("a body's bytes", () => {
  const json = { "content-type": "application/json" };
  const valid = JSON.stringify(prepareBody());

  test.each([
    ["no bytes", ""],
    ["half an object", valid.slice(0, -1)],
    ["two values", `${valid}{}`],
    ["a byte order mark", `\uFEFF${valid}`],
    ["a member twice", valid.replace("{", '{"nonce":"2",')],
    ["a comment", `/**/${valid}`],
    ["a hundred levels", "[".repeat(100) + "]".repeat(100)],
    ["130,000 levels", "[".repeat(130_000) + "]".repeat(130_000)],
    ["not UTF-8", Uint8Array.of(0x22, 0xff, 0x22)],
    ["an overlong encoding", Uint8Array.of(0x22, 0xc0, 0x80, 0x22)],
    ["a surrogate in UTF-8", Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22)],
  ])("%s is malformed JSON", async (_, body) => {
    expect(await problemOf(await post(body, json))).toBe("400 malformed_json");
  });

  test.each([["null"], ["[]"], ["1"], ['"text"']])("%s is not an object", async (body) => {
    expect(await problemOf(await post(body, json))).toBe("422 validation_failed");
  });

  test("exactly 256 KiB is read", async () => {
    const padded = valid + " ".repeat(262_144 - valid.length);
    expect((await post(padded, json)).status).toBe(200);
    expect((await post(`${padded} `, json)).status).toBe(413);
  });
});

describe("a body of more than 32 KiB", () => {
  const zeros = (count: number, bytes: number) =>
    JSON.stringify({ ...prepareBody(), zeros: Array.from({ length: count }, () => 0) }).padEnd(
      bytes,
    );

  test("may be long, but may not have more than 1,000 values", async () => {
    expect(await problemOf(await client.postJson(PREPARE, zeros(900, 32_769)))).toBe(
      "422 validation_failed",
    );
    const response = await client.postJson(PREPARE, zeros(1001, 32_769));
    expect(response.status).toBe(400);
    expect(await jsonOf(response)).toMatchObject({
      code: "malformed_json",
      detail: "The body holds too many values for its size.",
    });
  });

  test("a smaller one may have as many values as fit", async () => {
    const many = zeros(16_000, 32_768);
    expect(many.length).toBe(32_768);
    expect(await problemOf(await client.postJson(PREPARE, many))).toBe("422 validation_failed");
  });
});

describe("a body's members", () => {
  const unknown =
    "is not known; known are agent_owner, merchant, mint, amount_stroops, ttl_seconds, expires_at, session_key, task_hash, task_intent, nonce, attestor, payer";

  test("an unknown member's name is escaped and bounded", async () => {
    expect(await faultsOf({ "a/b~c": 1 })).toEqual([{ pointer: "/a~1b~0c", detail: unknown }]);
    const [fault] = await faultsOf({ ["n".repeat(5000)]: 1 });
    expect(fault?.pointer.length).toBeLessThan(80);
  });

  test("__proto__ and constructor are unknown members like others", async () => {
    const body = JSON.stringify(prepareBody()).replace("{", '{"__proto__":{"ttl_seconds":1},');
    const response = await client.postJson(PREPARE, body);
    expect(await errorsOf(response)).toEqual([{ pointer: "/__proto__", detail: unknown }]);
    expect((await faultsOf({ constructor: 1 }))[0]?.pointer).toBe("/constructor");
  });

  test("no value of the request comes back in a problem", async () => {
    const secret = "5Kd3NBUAdUnhyzenEwVLy9pBKxSwXvE9FMPyR4UKZvpe6E3AgLr";
    for (const change of [
      { agent_owner: secret },
      { task_hash: secret },
      { ttl_seconds: secret },
      { amount_stroops: secret },
    ]) {
      const response = await client.postJson(PREPARE, { ...prepareBody(), ...change });
      expect(response.status).toBe(422);
      expect(await response.text()).not.toContain(secret);
    }
    const response = await client.send(`/v1/escrows/${secret}?q=${secret}`);
    expect(await response.text()).not.toContain(secret);
    expect(JSON.stringify(service.lines)).not.toContain(secret);
  });
});

describe("a query", () => {
  test("at most 20 faults are named, repetitions among them", async () => {
    expect(await faults(`/v1/indexer?${"limit=1&".repeat(500)}`)).toHaveLength(20);
    const strangers = Array.from({ length: 500 }, (_, i) => `x${i}`).join("&");
    expect(await faults(`/v1/indexer?limit=1&limit=1&${strangers}`)).toHaveLength(20);
  });

  test.each(["0x10", "1e2", "+5", "-1", "05", " 5", "5.0", "", "５", "99999999999999999999"])(
    "limit=%s is not an integer in range",
    async (limit) => {
      const [fault] = await faults(`/v1/indexer?limit=${encodeURIComponent(limit)}`);
      expect(fault?.pointer).toBe("?limit");
    },
  );

  test("the fault of a negative number names the minimum, not the type", async () => {
    expect(await faults("/v1/registry/merchants?min_reputation=-1")).toEqual([
      { pointer: "?min_reputation", detail: "must be at least 0" },
    ]);
    expect(await faults("/v1/indexer?limit=-5")).toEqual([
      { pointer: "?limit", detail: "must be at least 1" },
    ]);
    expect(await faults("/v1/registry/merchants?min_reputation=-0")).toEqual([
      { pointer: "?min_reputation", detail: "must be an integer" },
    ]);
  });
});
