import { expect, test } from "bun:test";
import { connectMerchant } from "../../../client/merchant.ts";
import type { Fetch } from "../../../client/service/fetch-directly.ts";
import { MERCHANT, TRUST } from "../support/fake-service.ts";
import { failureOf } from "../support/failure-of.ts";
import { testClock } from "../support/test-clock.ts";

/** A service whose index has no escrow of a merchant that has delivered once. */
const behind = () => {
  const time = testClock();
  let looks = 0;
  const account = { deliveries: 1, partial_deliveries: 0, volume_stroops: "5", revoked_seq: "0" };
  const fetch: Fetch = (url) => {
    const { pathname } = new URL(url);
    if (pathname === "/v1/status")
      return Promise.resolve(Response.json({ data: { settlement_mint: null } }));
    if (pathname === "/v1/indexer") {
      looks += 1;
      return Promise.resolve(
        Response.json({ data: [], page: { next_cursor: null }, index: { unseen: 0 } }),
      );
    }
    return Promise.resolve(Response.json({ data: account }));
  };
  const client = connectMerchant("http://service.test", {
    trust: TRUST,
    fetch,
    clock: time.clock,
  });
  return { client, time, looks: () => looks };
};

test("export waits by the given clock until the index has caught up, and then says what differs", async () => {
  const { client, time, looks } = behind();
  expect(await failureOf(client.export({ merchant: MERCHANT }))).toMatchObject({
    code: "totals_differ",
  });
  expect(looks()).toBe(10);
  expect(time.pauses).toEqual(Array.from({ length: 9 }, () => 1000));
});

test("watch waits between two looks by the given clock", async () => {
  const { client, time, looks } = behind();
  const stop = new AbortController();
  const reason = new Error("enough");
  const { pause } = time.clock;
  const until = async (): Promise<void> => {
    for await (const each of client.watch({ merchant: MERCHANT, signal: stop.signal }))
      throw new Error(`nothing is there, and ${each.escrow} was given`);
  };
  Object.assign(time.clock, {
    pause: (ms: number, signal?: AbortSignal) => {
      if (ms === 2000 && looks() === 3) stop.abort(reason);
      return pause(ms, signal);
    },
  });
  expect(await until().catch((cause: unknown) => cause)).toBe(reason);
  expect(looks()).toBe(3);
  expect(time.pauses).toEqual([2000, 2000]);
});
