import { describe, expect, test } from "bun:test";
import { Context, Effect } from "effect";
import { IndexWriter } from "../../../../ports/index/index-writer.ts";
import { changesOf, markAt } from "../../../arbitraries/index-history.ts";
import { Instance } from "../../../../ports/instance.ts";
import { Ledger, LedgerUnavailable } from "../../../../ports/ledger/ledger.ts";
import { forwardedClock } from "../../../doubles/forwarded-clock.ts";
import { AGENT } from "../support/parties.ts";
import { makeService, problemOf } from "../support/service.ts";
import { standing } from "../support/standing-service.ts";

const clock = forwardedClock();
const { service, client } = await standing(makeService({ clock: clock.layer }));

const lastLine = () => service.lines.at(-1);

describe("the log", () => {
  test("has one line a request, with its route and without its path, query or body", async () => {
    const before = service.lines.length;
    await client.send(`/v1/escrows/${AGENT}`, { headers: { "x-request-id": "log-1" } });
    await client.postJson("/v1/escrows/prepare", { task_intent: "private words" });
    await client.send("/nothing/private-words");
    expect(service.lines.length).toBe(before + 3);
    const [read, prepare, unmatched] = service.lines.slice(before);
    expect(read).toEqual({
      level: "Info",
      cause: "",
      parts: [
        "request",
        {
          request_id: "log-1",
          method: "GET",
          route: "/v1/escrows/{pda}",
          status: 404,
          duration_ms: expect.any(Number),
          problem: "escrow_not_found",
        },
      ],
    });
    expect(prepare?.parts[1]).toMatchObject({ route: "/v1/escrows/prepare", status: 422 });
    expect(unmatched?.parts[1]).toMatchObject({ route: "unmatched", status: 404 });
    expect(JSON.stringify(service.lines)).not.toMatch(/private|words/);
    expect(JSON.stringify(service.lines.slice(before))).not.toContain(AGENT);
  });

  test("has the cause of a defect, which the answer never shows", async () => {
    const instance = await service.runtime.runPromise(Instance);
    const { deployment } = instance;
    Object.assign(instance, { deployment: undefined });
    const response = await client
      .send("/v1/relay")
      .finally(() => Object.assign(instance, { deployment }));
    const text = await response.clone().text();
    expect(await problemOf(response)).toBe("500 internal_error");
    expect(text).not.toMatch(/TypeError|deployment|undefined|\.ts\b/);
    expect(lastLine()).toMatchObject({ level: "Error" });
    expect(lastLine()?.cause).toContain("TypeError");
  });
});

test("an answer that cannot be serialized is a problem without the error's text", async () => {
  const operation = service.app.operations.find(({ path }) => path === "/health");
  if (operation === undefined) throw new Error("no /health");
  const { handle } = operation;
  const impossible = { text: "", headers: { "x-bad": "line\r\nbreak" } };
  Object.assign(operation, { handle: () => Effect.succeed(impossible) });
  const response = await client.send("/health").finally(() => Object.assign(operation, { handle }));
  expect(await problemOf(response)).toBe("500 internal_error");
});

describe("metrics", () => {
  const metrics = async () => (await client.send("/metrics")).text();

  test("count requests by method, route template and status", async () => {
    await client.send("/v1");
    await client.send("/v1", { method: "HEAD" });
    await client.send("/v1/escrows/one");
    await client.send("/v1/escrows/two");
    const text = await metrics();
    const count = (labels: string) =>
      text
        .split("\n")
        .find((line) => line.startsWith(`settlement_evidence_http_requests_total{${labels}}`));
    expect(count('method="GET",route="/v1",status="200"')).toEndWith(" 1");
    expect(count('method="HEAD",route="/v1",status="200"')).toEndWith(" 1");
    expect(count('method="GET",route="/v1/escrows/{pda}",status="422"')).toEndWith(" 2");
    expect(text).toContain('http_request_duration_seconds_bucket{method="GET",route="/v1",le="');
    // A scraper takes a rate of a counter only.
    expect(text).toContain("# TYPE settlement_evidence_http_requests_total counter\n");
  });

  test("time requests in buckets that rise from half a millisecond to half a minute", async () => {
    await client.send("/v1");
    const line =
      /^settlement_evidence_http_request_duration_seconds_bucket\{method="GET",route="\/v1",le="([\d.]+)"\}/gm;
    const bounds = Array.from((await metrics()).matchAll(line), ([, bound]) => Number(bound));
    expect(bounds).toEqual(bounds.toSorted((a, b) => a - b));
    expect([bounds[0], bounds.at(-1)]).toEqual([0.0005, 30]);
  });

  test("have no label that a caller makes up", async () => {
    const lines = async () => (await metrics()).split("\n").length;
    await Promise.all(["MKCOL", "COPY"].map((method) => client.send("/x", { method })));
    const before = await lines();
    for (let i = 0; i < 20; i++) {
      await client.send(`/made-up-${i}`, { method: `X${i}` });
      await client.send(`/v1/escrows/made-up-${i}?x${i}`);
    }
    expect(await metrics()).not.toContain("made-up");
    expect((await lines()) - before).toBeLessThan(4);
  });

  test("show the index's progress, and NaN when the ledger does not answer", async () => {
    const gauge = async (name: string) =>
      (await metrics()).match(new RegExp(`^settlement_evidence_${name} (\\S+)$`, "m"))?.[1];
    const index = Context.get(service.context, IndexWriter);
    const { slot } = await service.runtime.runPromise(
      Effect.flatMap(Ledger, (ledger) => ledger.tip("finalized")),
    );
    expect(await gauge("index_synced_slot")).toBe("NaN");
    const mark = { ...markAt([], 0n), slot: slot - 7n, atMs: 1_700_000_000_500 };
    await service.runtime.runPromise(index.apply(changesOf({ mark })));
    expect(await gauge("index_synced_slot")).toBe(String(mark.slot));
    expect(await gauge("index_synced_timestamp_seconds")).toBe("1700000000.5");
    expect(await gauge("index_lag_slots")).toBe("7");
    service.ledger.fault = new LedgerUnavailable({ retryable: true, cause: "down" });
    // A reading of the ledger is kept for a second.
    clock.forward(1000);
    expect(await gauge("index_lag_slots")).toBe("NaN");
    service.ledger.fault = null;
  });

  test("come in the format that a scraper expects", async () => {
    const response = await client.send("/metrics");
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  });
});

test("a read ends when its caller disconnects", async () => {
  service.ledger.fault = "hangs";
  const controller = new AbortController();
  const request = new Request(`http://localhost/v1/escrows/${AGENT}`, {
    signal: controller.signal,
  });
  const answer = service.app.handle(request);
  controller.abort();
  await answer;
  service.ledger.fault = null;
  expect(lastLine()?.parts[1]).toMatchObject({ route: "/v1/escrows/{pda}" });
});
