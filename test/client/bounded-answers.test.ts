import { expect, test } from "bun:test";
import { boundedText, MOST_ANSWER_BYTES, requestsTo } from "../../client/service/requests.ts";
import { settlementEvents } from "../../client/pay/settlement-events.ts";
import { AGENT, MERCHANT } from "./support/fake-service.ts";
import { failureOf } from "./support/failure-of.ts";

const MEGABYTE = new Uint8Array(2 ** 20).fill(0x20);

/** A body without an end, and how many bytes of it were asked for. */
const endless = () => {
  let given = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        given += MEGABYTE.length;
        // A reader that does not stop is told, or the test would end the machine.
        if (given > 8 * MOST_ANSWER_BYTES) controller.error(new Error("read without end"));
        else controller.enqueue(MEGABYTE);
      },
    },
    { highWaterMark: 0 },
  );
  return { body, given: () => given };
};

const hasty = {
  nowMs: () => 0,
  pause: (ms: number) => (ms < 30_000 ? Promise.resolve() : new Promise<void>(() => {})),
};

test("an answer is read up to its bound", async () => {
  expect(await boundedText(new Response("caf\u00e9"), 5)).toBe("caf\u00e9");
  expect((await failureOf(boundedText(new Response("caf\u00e9"), 4))).message).toInclude(
    "more than 4 bytes",
  );
  expect(await boundedText(new Response(null))).toBe("");
});

test("a service that answers without an end is not read to it", async () => {
  const bodies: Array<ReturnType<typeof endless>> = [];
  const requests = requestsTo(
    "http://service.example",
    () => {
      const made = endless();
      bodies.push(made);
      return Promise.resolve(new Response(made.body));
    },
    hasty,
    () => 0,
  );
  expect((await failureOf(requests.answer("/v1/status"))).code).toBe("service_unreachable");
  expect(bodies.length).toBeGreaterThan(0);
  for (const { given } of bodies)
    expect(given()).toBeLessThanOrEqual(MOST_ANSWER_BYTES + MEGABYTE.length);
});

test("a stream whose line does not end is given up, and opened anew", async () => {
  const streams: Array<ReturnType<typeof endless>> = [];
  const again = Promise.withResolvers<void>();
  const requests = requestsTo(
    "http://service.example",
    (url) => {
      if (!url.includes("/stream"))
        return Promise.resolve(Response.json({ data: { agent_owner: AGENT, merchant: MERCHANT } }));
      if (streams.length === 1) again.resolve();
      const made = endless();
      streams.push(made);
      return Promise.resolve(new Response(made.body));
    },
    hasty,
    () => 0,
  );
  const events = settlementEvents(requests, "escrow");
  await again.promise;
  events.stop();
  expect(streams[0]?.given()).toBeLessThanOrEqual(2 * MEGABYTE.length);
});
