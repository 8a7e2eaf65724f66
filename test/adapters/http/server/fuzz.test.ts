import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Endpoint } from "../../../../adapters/http/server/endpoint.ts";
import { anyCharacter } from "../../../arbitraries/any-character.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { AGENT, escrow, MERCHANT, merchant, prepareBody, STRANGER } from "../support/parties.ts";
import { checkedClient, makeSyncedService } from "../support/service.ts";

const released = escrow("fuzz", "Fulfilled");
const pending = escrow("fuzz pending");

const word = fc.oneof(
  fc.constantFrom("", "0", "1", "-1", "500", "501", "0x10", "1e3", "null", "true", "json", "*"),
  fc.constantFrom("Pending", "Active", "api-data", AGENT, MERCHANT, STRANGER, released.address),
  fc.string({ unit: anyCharacter, maxLength: 40 }),
);
const text = fc.oneof(word, fc.string({ unit: "grapheme", maxLength: 5000 }));

const queryOf = (names: ReadonlyArray<string>) =>
  fc.array(fc.tuple(fc.constantFrom("", ...names), word), { maxLength: 2 }).map((pairs) => {
    const known = pairs.filter(([name]) => name !== "");
    const text = known.map(
      ([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`,
    );
    return text.length === 0 ? "" : `?${text.join("&")}`;
  });

const json = fc.jsonValue({ maxDepth: 3 });
const preparation = fc
  .record(
    Object.fromEntries(
      Object.entries(prepareBody()).map(([name, value]) => [
        name,
        fc.oneof({ weight: 20, arbitrary: fc.constant(value as unknown) }, json, text),
      ]),
    ),
    { requiredKeys: ["agent_owner", "merchant", "mint", "amount_stroops", "ttl_seconds"] },
  )
  .chain((body) =>
    fc
      .option(fc.dictionary(text, json, { maxKeys: 2 }), { freq: 1 })
      .map((more) => Object.assign({}, body, more)),
  );
const relaying = fc.record(
  {
    signed_transaction: fc.oneof(
      fc.uint8Array({ maxLength: 1300 }).map((bytes) => bytes.toBase64()),
      text,
    ),
    encoding: fc.oneof(fc.constant("base64"), json),
    confirm: fc.oneof(fc.constant(false), json),
    skip_preflight: fc.oneof(fc.boolean(), json),
  },
  { requiredKeys: [] },
);
const anyBody = fc.oneof(
  fc.oneof(preparation, relaying, json).map((value) => JSON.stringify(value)),
  fc.uint8Array({ maxLength: 200 }),
  text,
);

const often = <T>(usual: fc.Arbitrary<T>, other: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 6, arbitrary: usual }, { weight: 1, arbitrary: other });

const headers = fc.record(
  {
    accept: often(
      fc.constant("*/*"),
      fc.constantFrom("application/json", "text/html", "text/*;q=0.2", ";;", "a/b"),
    ),
    "content-type": often(
      fc.constant("application/json"),
      fc.constantFrom(
        "application/json; charset=utf-8",
        "text/plain",
        "application/json; charset=x",
      ),
    ),
    "if-none-match": fc.constantFrom("*", '"x"', "W/", ","),
    "x-request-id": fc.constantFrom("ok-1", "not ok", "é"),
    origin: fc.constantFrom("https://a.example", "null", "*"),
  },
  { requiredKeys: ["content-type"] },
);

const segment = often(
  fc.constantFrom<string>(released.address, pending.address, MERCHANT, merchant().address),
  word.map((value) => encodeURIComponent(value.toWellFormed())),
);

/** A request that mostly fits an operation, with a few random deviations. */
const requestTo = ({ method, path, query, body }: Endpoint) =>
  fc.record({
    method: often(
      fc.constant<string>(method),
      fc.constantFrom("GET", "POST", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "QUERY"),
    ),
    path: often(
      segment.map((value) => path.replace(/\{[^}]+\}/, () => value)),
      segment.map((value) => `/v1/${value}`),
    ),
    query: often(queryOf(Object.keys(query.properties)), queryOf(["x", "__proto__", "limit"])),
    headers,
    body: often(
      body === undefined
        ? fc.constant("")
        : (path.includes("relay") ? relaying : preparation).map((value) => JSON.stringify(value)),
      anyBody,
    ),
  });

test("no request gets a 5xx or an answer outside the document", async () => {
  const service = await makeSyncedService();
  const client = await checkedClient(service);
  service.seed({ escrows: [released, pending], merchants: [merchant()] });
  const requests = fc.oneof(...service.app.operations.map(requestTo));
  const statuses = new Map<number, number>();
  const details = await fc.check(
    fc.asyncProperty(requests, async ({ method, path, query, headers, body }) => {
      const carries = method === "POST" || method === "PUT" || method === "PATCH";
      const response = await client.send(path + query, {
        method,
        headers: { ...headers },
        ...(carries ? { body } : {}),
      });
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      expect(response.status).toBeLessThan(500);
    }),
    runs(800),
  );
  await service.runtime.dispose();
  const seen = [...statuses]
    .toSorted(([a], [b]) => a - b)
    .map(([status, count]) => `${status}×${count}`);
  console.log(`HTTP fuzz: seed ${details.seed}, ${details.numRuns} requests, ${seen.join(" ")}`);
  if (details.failed) throw new Error(fc.defaultReportMessage(details));
}, 60_000);
