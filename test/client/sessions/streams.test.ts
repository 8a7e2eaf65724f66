import { describe, expect, test } from "bun:test";
import { hash32FromBytes } from "../../../core/domain/hash32.ts";
import { sha256 } from "../../../core/domain/sha256.ts";
import { RECEIPT_HEADER } from "../../../core/protocol/calls/call-receipt.ts";
import { RECEIPT_EVENT_LENGTH } from "../../../core/protocol/calls/receipt-event.ts";
import { callPayload } from "../../../core/protocol/calls/call-delivery.ts";
import { callOnce } from "../../../client/sessions/agent/call-session.ts";
import { closeWithSeller } from "../../../client/sessions/agent/close-with-seller.ts";
import { memorySessionJournal } from "../../../client/sessions/agent/memory-journal.ts";
import type { AgentContext } from "../../../client/sessions/agent/send-call.ts";
import { answerSink } from "../../../client/sessions/agent/take-stream.ts";
import { answerCall } from "../../../client/sessions/seller/answer-call.ts";
import { STREAM_HEADER } from "../../../client/sessions/seller/deliver-stream.ts";
import type { PaidCall, SellerContext } from "../../../client/sessions/seller/seller-context.ts";
import {
  keepingAttestor,
  memorySessionClaims,
} from "../../../client/sessions/seller/session-attestor.ts";
import { memorySessions, SharedSessions } from "../../../client/sessions/store/memory-sessions.ts";
import { NETWORK } from "../../arbitraries/evidence.ts";
import { ATTESTOR_SIGNER, KEPT, SESSION_SIGNER, TERMS } from "../../doubles/session-sides.ts";

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const eventOf = (number: number): string => `id: ${number}\ndata: event ${number}\n\n`;
const eventsTo = (number: number): string =>
  Array.from({ length: number }, (_, i) => eventOf(i + 1)).join("");

/** What the handler of a stream writes, bit by bit, from the test. */
class Source {
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  call: PaidCall | null = null;
  isCancelled = false;
  readonly stream = new ReadableStream<Uint8Array>({
    start: (controller) => {
      this.#controller = controller;
    },
    cancel: () => {
      this.isCancelled = true;
    },
  });
  write(text: string): void {
    this.#controller?.enqueue(utf8(text));
  }
  end(): void {
    this.#controller?.close();
  }
  fail(): void {
    this.#controller?.error(new Error("the handler failed"));
  }
}

const URL_OF_CALLS = "https://api.example.com/stream";

/** A seller whose streams the test writes, in processes over one store, and an agent. */
const world = () => {
  const place = new SharedSessions();
  const attestor = keepingAttestor(ATTESTOR_SIGNER, memorySessionClaims());
  const roots = new Map<number, Set<string>>();
  const sources: Array<Source> = [];
  const waiting: Array<(source: Source) => void> = [];
  const broken: Array<unknown> = [];
  let store = memorySessions(place);
  /** Makes of the body of each answer what the line makes of it. */
  let line: (body: ReadableStream<Uint8Array>) => ReadableStream<Uint8Array> = (body) => body;
  const contextOf = (): SellerContext => ({
    store,
    view: { session: () => Promise.resolve({ session: KEPT }) },
    attestor: {
      publicKey: attestor.publicKey,
      attest: (session, claim) => {
        roots.set(claim.count, (roots.get(claim.count) ?? new Set()).add(claim.deliveries));
        return attestor.attest(session, claim);
      },
    },
    clock: { nowMs: () => Number(KEPT.createdAt) * 1000, pause: () => Promise.resolve() },
    onClosed: () => undefined,
    onBroken: (_, cause) => broken.push(cause),
  });
  const handler = (call: PaidCall) => {
    const source = new Source();
    source.call = call;
    sources.push(source);
    waiting.shift()?.(source);
    return Promise.resolve({
      status: 200,
      headers: [["content-type", "text/event-stream"]] as const,
      stream: source.stream,
    });
  };
  const agent: AgentContext = {
    session: TERMS,
    network: NETWORK.genesisHash,
    signer: SESSION_SIGNER,
    journal: memorySessionJournal(),
    fetch: async (url, init) => {
      const request = new Request(url, init);
      const { method, headers } = request;
      const body = new Uint8Array(await request.arrayBuffer());
      const asked = { method, url, headers, body, price: 100n };
      const answer = await answerCall(contextOf(), asked, handler);
      if (answer === null) return new Response("", { status: 402 });
      if (answer.headers.get(RECEIPT_HEADER) !== "in-stream" || answer.body === null) return answer;
      return new Response(line(answer.body), answer);
    },
    clock: { nowMs: () => 0, pause: () => Promise.resolve() },
  };
  const call = (path = "") => {
    let begun: (answer: Response) => void = () => undefined;
    const streamed = new Promise<Response>((resolve) => {
      begun = resolve;
    });
    const sink = answerSink(begun);
    const ended = callOnce(agent, { url: URL_OF_CALLS + path, limit: 100n, sink }).then(
      (answer) => {
        sink.end();
        return answer;
      },
      (cause: { readonly code: string }) => {
        sink.fail(cause);
        return cause.code;
      },
    );
    return { streamed, ended };
  };
  return {
    agent,
    call,
    broken,
    roots: () => Array.from(roots.values(), (each) => each.size),
    source: (): Promise<Source> => new Promise((resolve) => void waiting.push(resolve)),
    through: (to: typeof line) => {
      line = to;
    },
    crash: () => {
      store.crash();
      store = memorySessions(place);
    },
  };
};

/** A line that is cut behind so many bytes. `isTold` says whether the seller's side notices. */
const cutAfter =
  (most: number, isTold: boolean) =>
  (body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> => {
    const reader = body.getReader();
    let bytes = 0;
    return new ReadableStream({
      pull: async (controller) => {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        if (bytes + value.length > most) {
          if (isTold) await reader.cancel();
          return controller.error(new Error("the line was cut"));
        }
        bytes += value.length;
        controller.enqueue(value);
      },
    });
  };

const readerOf = (answer: Response) => {
  const reader = answer.body?.getReader();
  return async (): Promise<string | null> => {
    const read = await reader?.read();
    return read === undefined || read.done ? null : textOf(read.value);
  };
};

describe("a stream that is paid for", () => {
  test("comes event by event, and ends with its receipt, which its reader never sees", async () => {
    const { agent, call, source, roots } = world();
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
    const { agent, source } = world();
    const running = source();
    const answer = callOnce(agent, { url: URL_OF_CALLS, limit: 100n });
    const from = await running;
    from.write(eventsTo(2));
    from.end();
    expect([textOf((await answer).body), (await answer).price]).toEqual([eventsTo(2), 100n]);
  });

  test("may have events that look like a receipt's beginning, or nothing in it", async () => {
    const { call, source } = world();
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
    const { call, source, through, roots } = world();
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
    const { call, source } = world();
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
    const { call, source, broken } = world();
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
      const { agent, call, source, crash, through, roots } = world();
      let cut: () => void = () => undefined;
      through((body) => {
        const reader = body.getReader();
        return new ReadableStream({
          start: (controller) => {
            cut = () => controller.error(new Error("the process ended"));
          },
          pull: async (controller) => {
            const { done, value } = await reader.read();
            if (!done) controller.enqueue(value);
          },
        });
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
      const { call, source, through } = world();
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
      expect(failure).toMatchObject({ code: await ended });
      return String(await ended);
    };
    expect(await forged((bytes) => bytes.slice(0, -1))()).toBe("stream_cut");
    expect(await forged((bytes) => bytes.slice(0, -RECEIPT_EVENT_LENGTH))()).toBe("stream_cut");
    const other = (bytes: Uint8Array) => bytes.map((byte, i) => (i === 5 ? byte ^ 1 : byte));
    expect(await forged(other)()).toBe("another_payload");
  });
});
