import { afterEach, describe, expect, test } from "bun:test";
import { Effect, Exit, Scope } from "effect";
import { serveHttp } from "../../../../adapters/http/server/serve-http.ts";
import type { SettlementEventRecord } from "../../../../adapters/http/index/event-contract.ts";
import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import { eventsOf } from "../../../../core/domain/index/settlement-event.ts";
import { EscrowIndex, type IndexBatch, StoreUnavailable } from "../../../../ports/escrow-index.ts";
import { AGENT, escrow, MERCHANT, STRANGER } from "../support/parties.ts";
import { checkedClient, jsonOf, makeService, problemOf } from "../support/service.ts";

const STREAM = "/v1/indexer/events/stream";

const opened: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

const open = async () => {
  const service = await makeService();
  opened.push(() => service.runtime.dispose());
  const applied = (rows: ReadonlyArray<Escrow>, checkpoint: IndexBatch["checkpoint"]) =>
    service.runtime.runPromise(
      EscrowIndex.use((index) =>
        index.apply({
          escrows: rows.map((row) => ({ row, slot: 1n })),
          merchants: [],
          events: rows.flatMap(eventsOf),
          checkpoint,
        }),
      ),
    );
  return {
    ...service,
    /** Writes and completes, as a finished sync does. */
    apply: (...rows: ReadonlyArray<Escrow>) =>
      applied(rows, { slot: 1n, ledgerTime: 1_700_000_000n, atMs: 1_700_000_000_000 }),
    /** Writes without completing, as a running sync does. */
    applyUnmarked: (...rows: ReadonlyArray<Escrow>) => applied(rows, null),
  };
};

/** Reads a stream's frames one after another, and waits only for the next frame. */
const framesOf = (response: Response) => {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (reader === undefined) throw new Error("no body");
  let text = "";
  const frame = async (): Promise<string | null> => {
    for (;;) {
      const end = text.indexOf("\n\n");
      if (end >= 0) {
        const found = text.slice(0, end);
        text = text.slice(end + 2);
        return found;
      }
      const { done, value } = await reader.read();
      if (done) return null;
      text += value;
    }
  };
  const event = async () => {
    for (;;) {
      const found = await frame();
      if (found === null) return null;
      const [, id, data] = /^id: (\d+)\ndata: (.*)$/.exec(found) ?? [];
      if (id === undefined || data === undefined) continue;
      return { id, record: JSON.parse(data) as SettlementEventRecord };
    }
  };
  return { frame, event, close: () => reader.cancel() };
};

const named = (n: number) => escrow(`streamed ${n}`, "Pending", BigInt(n));
const listed = async (service: Awaited<ReturnType<typeof open>>) => {
  const response = await service.app.handle(
    new Request("http://localhost/v1/indexer/events?limit=500"),
  );
  const { data } = await jsonOf<{ data: ReadonlyArray<SettlementEventRecord> }>(response);
  return data.toReversed();
};

describe("the stream of events", () => {
  test("begins with new events, sends the records of the list, and fits the document", async () => {
    const service = await open();
    await service.apply(named(1));
    const client = await checkedClient(service);
    const response = await client.send(STREAM);
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(response.headers.get("x-accel-buffering")).toBe("no");
    const { frame, event, close } = framesOf(response);
    expect(await frame()).toBe("retry: 2000");
    await service.apply(named(2), escrow("settled", "Fulfilled", 3n));
    const got = [await event(), await event(), await event()];
    expect(got.map((one) => one?.record)).toEqual((await listed(service)).slice(1));
    expect(got.map((one) => one?.id)).toEqual(["2", "3", "4"]);
    await close();
  });

  test.each([
    ["the last id", { "last-event-id": "2" }, ""],
    ["a position in the query", {}, "?after=2"],
    ["the last id, whatever the query says", { "last-event-id": "2" }, "?after=0"],
  ])("continues after %s without gaps or repetitions", async (_name, headers, query) => {
    const service = await open();
    await service.apply(...[1, 2, 3, 4].map(named));
    const response = await service.app.handle(
      new Request(`http://localhost${STREAM}${query}`, { headers: headers as HeadersInit }),
    );
    const { event, close } = framesOf(response);
    const before = [await event(), await event()];
    await service.apply(named(5));
    expect([...before, await event()].map((one) => one?.id)).toEqual(["3", "4", "5"]);
    await close();
  });

  test("sends the events of a first sync only once it is complete, and then all of them", async () => {
    const service = await open();
    const from = (position: number) =>
      service.app.handle(
        new Request(`http://localhost${STREAM}`, { headers: { "last-event-id": `${position}` } }),
      );
    const { event, close } = framesOf(await from(0));
    await service.applyUnmarked(named(1), named(2));
    expect(await listed(service)).toEqual([]);
    expect((await from(1)).status).toBe(400);
    await service.apply(named(3));
    expect([await event(), await event(), await event()].map((one) => one?.id)).toEqual([
      "1",
      "2",
      "3",
    ]);
    expect(await listed(service)).toHaveLength(3);
    await close();
  });

  test("replays hundreds in order, and a reader that reconnects misses none", async () => {
    const service = await open();
    await service.apply(...Array.from({ length: 230 }, (_, n) => named(n)));
    const seen: Array<string> = [];
    for (const stops of [1, 99, 100, 7, 23]) {
      const last = seen.at(-1) ?? "0";
      const response = await service.app.handle(
        new Request(`http://localhost${STREAM}`, { headers: { "last-event-id": last } }),
      );
      const { event, close } = framesOf(response);
      for (let n = 0; n < stops; n++) seen.push((await event())?.id ?? "none");
      await close();
    }
    expect(seen).toEqual(Array.from({ length: 230 }, (_, n) => String(n + 1)));
  });

  test("filters as the list does", async () => {
    const service = await open();
    const rows = [named(1), escrow("settled", "Refunded", 2n), named(3)];
    await service.apply(...rows);
    const ids = async (query: string, count: number) => {
      const response = await service.app.handle(
        new Request(`http://localhost${STREAM}?after=0&${query}`),
      );
      const { event, close } = framesOf(response);
      const got = [];
      for (let n = 0; n < count; n++) got.push((await event())?.id);
      await close();
      return got;
    };
    expect(await ids("state=Refunded", 1)).toEqual(["3"]);
    expect(await ids(`merchant=${MERCHANT}`, 4)).toEqual(["1", "2", "3", "4"]);
    const quiet = await service.app.handle(
      new Request(`http://localhost${STREAM}?after=0&agent_owner=${STRANGER}`),
    );
    const { frame, close } = framesOf(quiet);
    expect(await frame()).toBe("retry: 2000");
    await close();
    expect(await ids(`agent_owner=${AGENT}&state=Pending`, 3)).toEqual(["1", "2", "4"]);
  });

  test("refuses a position that this store does not have", async () => {
    const service = await open();
    await service.apply(named(1));
    const client = await checkedClient(service);
    const refusal = async (path: string, headers: Record<string, string> = {}) =>
      problemOf(await client.send(path, { headers }));
    expect(await refusal(`${STREAM}?merchant=x`)).toBe("422 invalid_address");
    expect(await refusal(`${STREAM}?limit=5`)).toBe("422 validation_failed");
    expect(await refusal(`${STREAM}?after=-1`)).toBe("422 validation_failed");
    // A position that this store has not reached comes from another store. Continuing from it would skip events.
    expect(await refusal(`${STREAM}?after=2`)).toBe("400 malformed_cursor");
    for (const id of ["x", "-1", "1.5", "1e3", "99999999999999999999"])
      expect(await refusal(STREAM, { "last-event-id": id })).toBe("400 malformed_cursor");
    expect(await refusal(STREAM, { accept: "application/json" })).toBe("406 not_acceptable");
  });

  test("a client can have a limited number of streams at a time, and closing one frees a place", async () => {
    const service = await open();
    const client = await checkedClient(service);
    const streams = [];
    for (let n = 0; n < 16; n++) {
      const frames = framesOf(await client.send(STREAM));
      await frames.frame();
      streams.push(frames);
    }
    expect(await problemOf(await client.send(STREAM))).toBe("429 rate_limited");
    await streams[0]?.close();
    const again = framesOf(await client.send(STREAM));
    expect(await again.frame()).toBe("retry: 2000");
    for (const { close } of [...streams.slice(1), again]) await close();
  });

  test("the addresses of one IPv6 /64 are one client, as for the rate limiter", async () => {
    const service = await open();
    const from = (address: string) =>
      service.app.handle(new Request(`http://localhost${STREAM}`), {
        address,
        allowSeconds: () => undefined,
      });
    const streams = [];
    for (let n = 0; n < 16; n++) {
      const frames = framesOf(await from(`2001:db8:0:1::${n + 1}`));
      await frames.frame();
      streams.push(frames);
    }
    expect(await problemOf(await from("2001:db8:0:1:ffff::1"))).toBe("429 rate_limited");
    const other = framesOf(await from("2001:db8:0:2::1"));
    expect(await other.frame()).toBe("retry: 2000");
    for (const { close } of [...streams, other]) await close();
  });

  test("answers HEAD without keeping a place", async () => {
    const service = await open();
    for (let n = 0; n < 40; n++) {
      const head = await service.app.handle(
        new Request(`http://localhost${STREAM}`, { method: "HEAD" }),
      );
      expect(head.status).toBe(200);
    }
  });

  test("reads no more events from the store than its client receives", async () => {
    const service = await open();
    await service.apply(...Array.from({ length: 350 }, (_, n) => named(n)));
    const index = service.context.mapUnsafe.get(EscrowIndex.key) as {
      eventsAfter: EscrowIndex["Service"]["eventsAfter"];
    };
    const { eventsAfter } = index;
    let looks = 0;
    index.eventsAfter = (...query) => {
      looks += 1;
      return eventsAfter(...query);
    };
    const response = await service.app.handle(new Request(`http://localhost${STREAM}?after=0`));
    const { frame, event, close } = framesOf(response);
    await frame();
    const before = looks;
    for (let n = 1; n <= 250; n++) expect((await event())?.id).toBe(String(n));
    expect(before).toBeLessThanOrEqual(1);
    expect(looks).toBeLessThanOrEqual(4);
    await close();
  });

  test("ends when the store fails, so that the client reconnects", async () => {
    const service = await open();
    const failing = new StoreUnavailable({ retryable: true, cause: "gone" });
    const index = service.context.mapUnsafe.get(EscrowIndex.key) as {
      eventsAfter: EscrowIndex["Service"]["eventsAfter"];
    };
    const response = await service.app.handle(new Request(`http://localhost${STREAM}`));
    const { frame } = framesOf(response);
    expect(await frame()).toBe("retry: 2000");
    index.eventsAfter = () => Effect.fail(failing);
    await service.apply(named(1));
    expect(await frame()).toBeNull();
  });
});

test("over the wire hundreds arrive in order, and streams end when the service stops", async () => {
  const service = await open();
  await service.apply(...Array.from({ length: 400 }, (_, n) => named(n)));
  const scope = Scope.makeUnsafe();
  const server = await Effect.runPromise(
    Scope.provide(serveHttp(service.app, { hostname: "127.0.0.1", port: 0 }), scope),
  );
  const { event, frame } = framesOf(await fetch(`${server.url}${STREAM}?after=0`));
  for (let n = 1; n <= 400; n++) expect((await event())?.id).toBe(String(n));
  const stopped = Effect.runPromise(Scope.close(scope, Exit.void));
  expect(await frame()).toBeNull();
  await stopped;
});
