import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { runs } from "../../arbitraries/runs.ts";
import { hash32FromBytes } from "../../../core/domain/hash32.ts";
import { sha256 } from "../../../core/domain/sha256.ts";
import { RECEIPT_EVENT_LENGTH } from "../../../core/protocol/calls/receipt-event.ts";
import { callPayload } from "../../../core/protocol/calls/call-delivery.ts";
import { callOnce } from "../../../client/sessions/agent/call-session.ts";
import { closeWithSeller } from "../../../client/sessions/agent/close-with-seller.ts";
import { STREAM_HEADER } from "../../../client/sessions/seller/deliver-stream.ts";
import { NETWORK } from "../../arbitraries/evidence.ts";
import { KEPT, TERMS } from "../../doubles/session-sides.ts";
import {
  cutAfter,
  cuttable,
  eventOf,
  eventsTo,
  streamWorld,
  textOf,
  URL_OF_CALLS,
  utf8,
} from "../../doubles/stream-world.ts";

const readerOf = (answer: Response) => {
  const reader = answer.body?.getReader();
  return async (): Promise<string | null> => {
    const read = await reader?.read();
    return read === undefined || read.done ? null : textOf(read.value);
  };
};

describe("a stream that is paid for", () => {
  test("comes event by event, and ends with its receipt, which its reader never sees", async () => {
    const { agent, call, source, roots } = streamWorld();
    const running = source();
    const { streamed, ended } = call();
    const from = await running;
    from.write(eventOf(1));
    const answer = await streamed;
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    expect(answer.headers.get("cache-control")).toContain("no-transform");
    const next = readerOf(answer);
    expect(await next()).toBe(eventOf(1));
    for (const number of [2, 3]) {
      from.write(eventOf(number));
      expect(await next()).toBe(eventOf(number));
    }
    from.call?.charge(70n);
    from.end();
    expect(await next()).toBeNull();
    const paid = await ended;
    if (typeof paid === "string") throw new Error(paid);
    expect([paid.count, paid.price, textOf(paid.body)]).toEqual([1, 70n, eventsTo(3)]);
    const { head } = await agent.journal.state();
    const payload = callPayload({
      taskHash: head?.receipt.delivery.taskHash ?? TERMS.terms,
      network: NETWORK.genesisHash,
      url: URL_OF_CALLS,
      status: 200,
      body: utf8(eventsTo(3)),
      deliveredAt: KEPT.createdAt,
    });
    expect(payload["content_sha256"]).toBe(hash32FromBytes(sha256(utf8(eventsTo(3)))));
    expect(roots()).toEqual([1]);
  });

  test("whose reader does not take it bit by bit is waited for", async () => {
    const { agent, source } = streamWorld();
    const running = source();
    const answer = callOnce(agent, { url: URL_OF_CALLS, limit: 100n });
    const from = await running;
    from.write(eventsTo(2));
    from.end();
    expect([textOf((await answer).body), (await answer).price]).toEqual([eventsTo(2), 100n]);
  });

  test("may have events that look like a receipt's beginning, or nothing in it", async () => {
    const { call, source } = streamWorld();
    const likeness = "event: settlement-receipt\ndata: none\n\n";
    for (const written of [[likeness, "event: settle", "ment\n\n"], [likeness.repeat(20)], []]) {
      const running = source();
      const { ended } = call(`/${written.length}`);
      const from = await running;
      for (const text of written) from.write(text);
      from.end();
      const paid = await ended;
      expect(typeof paid === "string" ? paid : textOf(paid.body)).toBe(written.join(""));
    }
  });
});

describe("a stream that is cut", () => {
  test("by the line ends where it was, and the same call is answered with what left, paid once", async () => {
    const { call, source, through, roots } = streamWorld();
    through(cutAfter(eventsTo(2).length, true));
    const running = source();
    const { streamed, ended } = call();
    const from = await running;
    from.call?.charge(20n);
    for (const number of [1, 2, 3]) from.write(eventOf(number));
    const next = readerOf(await streamed);
    expect([await next(), await next()]).toEqual([eventOf(1), eventOf(2)]);
    expect(await next().catch((cause: unknown) => cause)).toMatchObject({ code: "stream_cut" });
    expect(await ended).toBe("stream_cut");
    expect(from.isCancelled).toBe(true);
    const again = await call().ended;
    if (typeof again === "string") throw new Error(again);
    expect([again.count, again.price, textOf(again.body)]).toEqual([1, 20n, eventsTo(3)]);
    expect(again.headers.get(STREAM_HEADER)).toBe("cut");
    expect(roots()).toEqual([1]);
    through((body) => body);
    const afterwards = source();
    const third = call("/next").ended;
    (await afterwards).end();
    expect(await third).toMatchObject({ count: 2 });
  });

  test("by its reader costs what was charged by then, and another call goes on from its receipt", async () => {
    const { call, source } = streamWorld();
    const running = source();
    const { streamed, ended } = call();
    const from = await running;
    from.call?.charge(5n);
    from.write(eventOf(1));
    const reader = (await streamed).body?.getReader();
    await reader?.read();
    await reader?.cancel();
    expect(await ended).toBe("stream_cut");
    const afterwards = source();
    const next = call("/next").ended;
    const second = await afterwards;
    second.write(eventOf(1));
    second.end();
    expect(await next).toMatchObject({ count: 2, price: 100n });
  });

  test("by its handler costs what that had charged itself, and nothing before its first byte", async () => {
    const { call, source, broken } = streamWorld();
    for (const [path, charged, price] of [
      ["/free", null, 0n],
      ["/metered", 30n, 30n],
    ] as const) {
      const running = source();
      const { streamed, ended } = call(path);
      const from = await running;
      from.write(eventOf(1));
      await readerOf(await streamed)();
      if (charged !== null) from.call?.charge(charged);
      from.fail();
      expect(await ended).toBe("stream_cut");
      expect(await call(path).ended).toMatchObject({ price });
    }
    const running = source();
    const { ended } = call("/empty");
    (await running).fail();
    expect(await ended).toBe("stream_cut");
    const afterwards = source();
    const again = call("/empty").ended;
    (await afterwards).end();
    expect(await again).toMatchObject({ count: 3, price: 100n });
    expect(broken).toHaveLength(3);
  });

  test("by a crash of its seller is attested as it is on disk, at least half of what left", async () => {
    for (const ends of ["again", "other", "closed"] as const) {
      const { agent, call, source, crash, through, roots } = streamWorld();
      let cut: () => void = () => undefined;
      through((body) => {
        const line = cuttable(body);
        cut = line.cut;
        return line.body;
      });
      const running = source();
      const { streamed, ended } = call();
      const from = await running;
      const next = readerOf(await streamed);
      for (let number = 1; number <= 9; number++) {
        from.write(eventOf(number));
        expect(await next()).toBe(eventOf(number));
      }
      crash();
      cut();
      expect(await ended).toBe("stream_cut");
      through((body) => body);
      if (ends === "closed")
        expect(await closeWithSeller(agent, URL_OF_CALLS)).toMatchObject({ count: 1, total: 100n });
      if (ends === "other") {
        const afterwards = source();
        const other = call("/other").ended;
        (await afterwards).end();
        expect(await other).toMatchObject({ count: 2 });
      }
      const again = ends === "again" ? await call().ended : null;
      if (again !== null) {
        if (typeof again === "string") throw new Error(again);
        const kept = textOf(again.body);
        expect(eventsTo(9).startsWith(kept)).toBe(true);
        expect(kept.length * 2).toBeGreaterThan(eventsTo(9).length);
      }
      expect(roots().every((each) => each === 1)).toBe(true);
    }
  });

  test("in its receipt, or with another one, is an error of its reader", async () => {
    const forged = (change: (bytes: Uint8Array) => Uint8Array) => async (): Promise<string> => {
      const { call, source, through } = streamWorld();
      through((body) => {
        const whole = new Response(body).bytes();
        return new ReadableStream({
          pull: async (controller) => {
            controller.enqueue(change(await whole));
            controller.close();
          },
        });
      });
      const running = source();
      const { streamed, ended } = call();
      const from = await running;
      from.write(eventsTo(3));
      from.end();
      const next = readerOf(await streamed);
      await next();
      const failure = await next().catch((cause: unknown) => cause);
      const code = await ended;
      expect(failure).toMatchObject({ code });
      return typeof code === "string" ? code : "answered";
    };
    expect(await forged((bytes) => bytes.slice(0, -1))()).toBe("stream_cut");
    expect(await forged((bytes) => bytes.slice(0, -RECEIPT_EVENT_LENGTH))()).toBe("stream_cut");
    const other = (bytes: Uint8Array) => bytes.map((byte, i) => (i === 5 ? byte ^ 1 : byte));
    expect(await forged(other)()).toBe("another_payload");
  });
});

type Fault = "none" | "line" | "reader" | "handler" | "crash" | "attestor";
const FAULT = fc.constantFrom<Fault>("none", "line", "reader", "handler", "crash", "attestor");

test("whatever cuts streams, each is paid for once, for a beginning of it, and one root of a number is signed", () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(FAULT, fc.integer({ min: 1, max: 5 }), fc.boolean()), {
        minLength: 1,
        maxLength: 4,
      }),
      async (streams) => {
        const { agent, call, source, through, crash, roots, loseAttestor } = streamWorld();
        let owed = 0n;
        for (const [at, [fault, events, isMetered]] of streams.entries()) {
          const path = `/${at}`;
          let cutLine: () => void = () => undefined;
          through((body) => {
            const cut = cuttable(body);
            cutLine = cut.cut;
            return cut.body;
          });
          const running = source();
          const { streamed, ended } = call(path);
          const from = await running;
          const reader = (await streamed).body?.getReader();
          for (let number = 1; number <= events; number++) {
            if (isMetered) from.call?.charge(BigInt(number));
            from.write(eventOf(number));
            expect(textOf((await reader?.read())?.value ?? utf8(""))).toBe(eventOf(number));
          }
          if (fault === "crash") crash();
          if (fault === "crash" || fault === "line") cutLine();
          if (fault === "reader") await reader?.cancel();
          if (fault === "handler") from.fail();
          if (fault === "attestor") loseAttestor(true);
          if (fault === "none" || fault === "attestor") from.end();
          const first = await ended;
          expect(typeof first).toBe(fault === "none" ? "object" : "string");
          loseAttestor(false);
          through((body) => body);
          const answer = fault === "none" ? first : await call(path).ended;
          if (typeof answer === "string") throw new Error(answer);
          const kept = textOf(answer.body);
          expect([answer.count, eventsTo(events).startsWith(kept)]).toEqual([at + 1, true]);
          const isWhole = fault === "none" || fault === "attestor";
          expect(answer.headers.get(STREAM_HEADER)).toBe(isWhole ? null : "cut");
          expect(kept.length * 2).toBeGreaterThan(eventsTo(events).length);
          const most = isMetered ? BigInt(events) : fault === "handler" ? 0n : 100n;
          expect(answer.price).toBeLessThanOrEqual(most);
          owed += answer.price;
        }
        expect((await agent.journal.state()).head?.receipt.delivery.totalAfter).toBe(owed);
        expect(roots()).toEqual(streams.map(() => 1));
      },
    ),
    runs(12),
  ));
