import { afterEach, describe, expect, test } from "bun:test";
import { Deferred, Effect, Exit, Scope } from "effect";
import { serveHttp } from "../../../../adapters/http/server/serve-http.ts";
import type { SettlementEventRecord } from "../../../../adapters/http/index/event-contract.ts";
import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import { indexedEventAt } from "../../../../core/log/leaf/indexed-leaves.ts";
import { ConfirmedEvents } from "../../../../core/use-cases/index/confirmed/confirmed-events.ts";
import { ConfirmedJournal } from "../../../../core/use-cases/index/confirmed/confirmed-journal.ts";
import { IndexReader } from "../../../../ports/index/index-reader.ts";
import { IndexWriter } from "../../../../ports/index/index-writer.ts";
import { StoreUnavailable } from "../../../../ports/index/store-refusal.ts";
import { changesOf, indexedOf, markAt } from "../../../arbitraries/index-history.ts";
import { AGENT, escrow, MERCHANT, STRANGER } from "../support/parties.ts";
import { checkedClient, jsonOf, makeService, problemOf, TEST_LOG_ID } from "../support/service.ts";

const STREAM = "/v1/indexer/events/stream";

const opened: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

const open = async () => {
  const service = await makeService();
  opened.push(() => service.runtime.dispose());
  let count: bigint | null = null;
  /** Escrows with the next numbers, as a completed sync adds them. */
  const apply = (...rows: ReadonlyArray<Escrow>) => {
    const from = count;
    const escrows = rows.map((row) => {
      const createdSeq = (count ?? 0n) + 1n;
      const settledSeq = row.state === "Pending" ? null : createdSeq + 1n;
      count = settledSeq ?? createdSeq;
      return indexedOf({ ...row, createdSeq, settledSeq });
    });
    const mark = { ...markAt([], 0n), count: count ?? 0n };
    return service.runtime.runPromise(
      IndexWriter.use((index) => index.apply(changesOf({ from, escrows, mark }))),
    );
  };
  return { ...service, apply };
};

/** The ids of the events with these numbers. */
const idsOf = (...numbers: ReadonlyArray<number>) => numbers.map((n) => `${TEST_LOG_ID}-${n}`);

/** Reads a stream's frames, one after another, without more waiting than there is to wait for. */
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
      const [, id, data] = /^id: ([0-9a-f]{16}-\d+)\ndata: (.*)$/.exec(found) ?? [];
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
    expect(got.map((one) => one?.id)).toEqual(idsOf(2, 3, 4));
    await close();
  });

  test.each([
    ["the last id", { "last-event-id": `${TEST_LOG_ID}-2` }, ""],
    ["an id in the query", {}, `?after=${TEST_LOG_ID}-2`],
    ["the last id, whatever the query says", { "last-event-id": `${TEST_LOG_ID}-2` }, "?after=0"],
  ])("goes on behind %s, without a gap and without a repetition", async (_name, headers, query) => {
    const service = await open();
    await service.apply(...[1, 2, 3, 4].map(named));
    const response = await service.app.handle(
      new Request(`http://localhost${STREAM}${query}`, { headers: headers as HeadersInit }),
    );
    const { event, close } = framesOf(response);
    const before = [await event(), await event()];
    await service.apply(named(5));
    expect([...before, await event()].map((one) => one?.id)).toEqual(idsOf(3, 4, 5));
    await close();
  });

  test("waits behind a number that the index has not reached, and goes on there", async () => {
    const service = await open();
    const response = await service.app.handle(
      new Request(`http://localhost${STREAM}`, {
        headers: { "last-event-id": `${TEST_LOG_ID}-2` },
      }),
    );
    const { event, close } = framesOf(response);
    await service.apply(named(1));
    await service.apply(named(2), named(3));
    expect((await event())?.id).toBe(`${TEST_LOG_ID}-3`);
    await close();
  });

  test("replays hundreds in order, and a reader that reconnects misses none", async () => {
    const service = await open();
    await service.apply(...Array.from({ length: 230 }, (_, n) => named(n)));
    const seen: Array<string> = [];
    for (const stops of [1, 99, 100, 7, 23]) {
      const last = seen.at(-1) ?? `${TEST_LOG_ID}-0`;
      const response = await service.app.handle(
        new Request(`http://localhost${STREAM}`, { headers: { "last-event-id": last } }),
      );
      const { event, close } = framesOf(response);
      for (let n = 0; n < stops; n++) seen.push((await event())?.id ?? "none");
      await close();
    }
    expect(seen).toEqual(idsOf(...Array.from({ length: 230 }, (_, n) => n + 1)));
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
    expect(await ids("state=Refunded", 1)).toEqual(idsOf(3));
    expect(await ids(`merchant=${MERCHANT}`, 4)).toEqual(idsOf(1, 2, 3, 4));
    const quiet = await service.app.handle(
      new Request(`http://localhost${STREAM}?after=0&agent_owner=${STRANGER}`),
    );
    const { frame, close } = framesOf(quiet);
    expect(await frame()).toBe("retry: 2000");
    await close();
    expect(await ids(`agent_owner=${AGENT}&state=Pending`, 3)).toEqual(idsOf(1, 2, 4));
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
    expect(await refusal(`${STREAM}?after=2`)).toBe("422 validation_failed");
    expect(await jsonOf(await client.send(`${STREAM}?after=8`))).toMatchObject({
      errors: [{ pointer: "?after", detail: "must be 0 or the `id` of an event of this stream" }],
    });
    const other = `${"0".repeat(16)}-1`;
    expect(await refusal(`${STREAM}?after=${other}`)).toBe("400 malformed_cursor");
    const another = await client.send(STREAM, { headers: { "last-event-id": other } });
    expect(await jsonOf(another)).toMatchObject({
      code: "malformed_cursor",
      detail: expect.stringContaining("belongs to another log"),
      cure: expect.stringMatching(/`after` or in `Last-Event-ID`/),
    });
    for (const id of ["x", "-1", "0", "2", "1.5", `${TEST_LOG_ID}-1e3`, `${TEST_LOG_ID}:1`])
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

  test("shows confirmed events at once, without ids, and then what becomes of them", async () => {
    const service = await open();
    await service.apply(named(1));
    const journal = new ConfirmedJournal(1n);
    const told = { leave: 0, wake: Deferred.makeUnsafe<void>() };
    Object.assign(
      service.context.mapUnsafe.get(ConfirmedEvents.key) as object,
      ConfirmedEvents.of({
        join: Effect.succeed(journal),
        leave: () => void (told.leave += 1),
        keeps: () => true,
        beyond: (_journal, cursor) =>
          Effect.gen(function* () {
            while (journal.end <= cursor) yield* Deferred.await(told.wake);
          }),
        finalTo: () => Effect.void,
      }),
    );
    const confirm = (row: Escrow, position: bigint) => {
      const events = [
        indexedEventAt(indexedOf({ ...row, createdSeq: position }), position, undefined),
      ];
      const leafHashAt = () => events[0]?.leafHash;
      journal.stand({ from: position - 1n, to: position, events, leafHashAt });
      const { wake } = told;
      told.wake = Deferred.makeUnsafe();
      Deferred.doneUnsafe(wake, Effect.void);
    };
    confirm(named(2), 2n);
    const client = await checkedClient(service);
    const { frame, close } = framesOf(await client.send(`${STREAM}?commitment=confirmed`));
    const nextOf = async () => {
      const found = (await frame()) ?? "";
      const [, id = null, data = "{}"] = /^(?:id: (.*)\n)?data: (.*)$/.exec(found) ?? [];
      const { finality, position } = JSON.parse(data) as Record<string, unknown>;
      return [id, finality, position];
    };
    expect(await frame()).toBe("retry: 2000");
    expect(await nextOf()).toEqual([null, "confirmed", 2]);
    confirm(named(3), 3n);
    expect(await nextOf()).toEqual([null, "confirmed", 3]);
    confirm(escrow("another", "Pending", 9n), 3n);
    expect(await nextOf()).toEqual([null, "retracted", 3]);
    expect(await nextOf()).toEqual([null, "confirmed", 3]);
    await service.apply(named(2));
    expect(await nextOf()).toEqual([`${TEST_LOG_ID}-2`, "final", 2]);
    await close();
    expect(told.leave).toBe(1);
    expect(await problemOf(await client.send(`${STREAM}?commitment=processed`))).toBe(
      "422 validation_failed",
    );
    const plain = framesOf(await client.send(`${STREAM}?commitment=finalized&after=0`));
    expect((await plain.event())?.record).not.toHaveProperty("finality");
    await plain.close();
  });

  test("reads no more events from the store than its client receives", async () => {
    const service = await open();
    await service.apply(...Array.from({ length: 350 }, (_, n) => named(n)));
    const index = service.context.mapUnsafe.get(IndexReader.key) as {
      events: IndexReader["Service"]["events"];
    };
    const { events } = index;
    let looks = 0;
    index.events = (...query) => {
      looks += 1;
      return events(...query);
    };
    const response = await service.app.handle(new Request(`http://localhost${STREAM}?after=0`));
    const { frame, event, close } = framesOf(response);
    await frame();
    const before = looks;
    for (let n = 1; n <= 250; n++) expect((await event())?.id).toBe(`${TEST_LOG_ID}-${n}`);
    expect(before).toBeLessThanOrEqual(1);
    expect(looks).toBeLessThanOrEqual(4);
    await close();
  });

  test("ends when the store fails, so that the client reconnects", async () => {
    const service = await open();
    const failing = new StoreUnavailable({ retryable: true, cause: "gone" });
    const index = service.context.mapUnsafe.get(IndexReader.key) as {
      events: IndexReader["Service"]["events"];
    };
    const response = await service.app.handle(new Request(`http://localhost${STREAM}`));
    const { frame } = framesOf(response);
    expect(await frame()).toBe("retry: 2000");
    index.events = () => Effect.fail(failing);
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
  for (let n = 1; n <= 400; n++) expect((await event())?.id).toBe(`${TEST_LOG_ID}-${n}`);
  const stopped = Effect.runPromise(Scope.close(scope, Exit.void));
  expect(await frame()).toBeNull();
  await stopped;
});
