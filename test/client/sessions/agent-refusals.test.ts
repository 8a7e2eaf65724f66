import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "../../../client/connect.ts";
import { keySigner } from "../../../client/node/key-file.ts";
import { memorySessionJournal } from "../../../client/sessions/agent/memory-journal.ts";
import { payFetch } from "../../../client/sessions/agent/pay-fetch.ts";
import { sessionSeller } from "../../../client/sessions.ts";
import { memorySessions, SharedSessions } from "../../../client/sessions/store/memory-sessions.ts";
import { SettlementError } from "../../../client/settlement-error.ts";
import type { Fetch } from "../../../client/service/fetch-directly.ts";
import { type ClientClock, systemClock } from "../../../client/service/requests.ts";
import type { Address } from "../../../core/domain/address.ts";
import { until } from "../../app/support/running-service.ts";
import { failureOf } from "../support/failure-of.ts";
import {
  agentKey,
  attestorKey,
  merchantKey,
  payerKey,
  sellerFixture,
  signerOf,
} from "./seller-fixture.ts";

let fixture: Awaited<ReturnType<typeof sellerFixture>>;
beforeAll(async () => {
  fixture = await sellerFixture();
}, 120_000);
afterAll(() => fixture.stop());

const signer = keySigner(agentKey.seed);
const PLAN = { merchant: merchantKey.address, budget: "1.00", ttl: 3600 };
const URL = "https://api.example.com/quotes";

/** A pause of ten seconds or more is a deadline and lasts; a shorter one takes a twentieth, and moves the clock on. */
const quickClock = (): ClientClock => {
  let passed = 0;
  return {
    nowMs: () => Date.now() + passed,
    pause: (ms, signal) => {
      if (ms >= 10_000) return systemClock.pause(ms, signal);
      passed += (ms * 19) / 20;
      return systemClock.pause(ms / 20, signal);
    },
  };
};

/** A seller without a port at `URL`, and what it is asked. Its settlements fail where `isSilent`. */
const selling = (isSilent = false, place?: SharedSessions) => {
  const seller = sessionSeller({
    service: fixture.service.url,
    trust: fixture.trust,
    rpc: fixture.rpc,
    merchant: merchantKey.address,
    attestor: signerOf(attestorKey),
    payer: signerOf(payerKey),
    store: memorySessions(place),
    webSocket: null,
    fetch: (url, init) =>
      isSilent && url.includes("/prepare")
        ? Promise.resolve(Response.json({ code: "busy", detail: "Busy." }, { status: 409 }))
        : fetch(url, init),
  });
  const asked: Array<string> = [];
  const reach: Fetch = (url, init) => {
    const request = new Request(url, init);
    asked.push(request.headers.has("settlement-voucher") ? "voucher" : "none");
    return seller.handle(request, "0.01", (_, { count }) => Response.json({ count }));
  };
  return { seller, asked, reach };
};

/** The newest record of a seller with one session, as its header carries it. */
const newestOf = async (seller: { readonly heads: () => Promise<string> }): Promise<string> =>
  (JSON.parse(await seller.heads()) as { readonly head: string }).head;

const sessionAt = (reach: Fetch) =>
  connect(fixture.service.url, {
    trust: fixture.trust,
    rpc: fixture.rpc,
    clock: quickClock(),
  }).session({ ...PLAN, signer, journal: memorySessionJournal(), fetch: reach });

describe("the agent's wallet closes the session on the ledger", () => {
  test("when the seller signed the end and settles not within a minute", async () => {
    const { seller, reach } = selling(true);
    const session = await sessionAt(reach);
    await session.call(URL, { limit: "0.01" });
    const ended = await session.close();
    expect(ended).toMatchObject({ outcome: "closing", used: "10000", calls: 1 });
    expect(ended.refusal).toContain("no settlement was seen in 60 s");
    expect(ended.closesAt).not.toBeNull();
    await seller.close().catch(() => undefined);
  }, 60_000);

  test("when the seller gives no answer any more", async () => {
    const { seller, reach } = selling();
    let isDead = false;
    const session = await sessionAt((url, init) =>
      isDead ? Promise.reject(new TypeError("connection refused")) : reach(url, init),
    );
    await session.call(URL, { limit: "0.01" });
    isDead = true;
    expect((await failureOf(session.call(URL, { limit: "0.01" }))).code).toBe("call_unanswered");
    const ended = await session.close();
    expect([ended.outcome, ended.refusal]).toEqual([
      "closing",
      "The seller did not close the session: it gave no answer",
    ]);
    await seller.close();
  }, 60_000);

  test("at once when the seller's store was restored, which is paid by the record that it is shown", async () => {
    const place = new SharedSessions();
    const before = selling(false, place);
    let meets = before;
    const session = await sessionAt((url, init) => meets.reach(url, init));
    await session.call(URL, { limit: "0.01" });
    // A backup after the first call is put back after the third, and nothing marks it.
    const copy = new SharedSessions();
    for (const [escrow, held] of place.held)
      copy.held.set(escrow, { ...held, calls: [...held.calls] });
    for (let i = 2; i <= 3; i++) await session.call(URL, { limit: "0.01" });
    const restored = selling(false, copy);
    meets = restored;
    expect((await failureOf(session.call(URL, { limit: "0.01" }))).code).toBe("session_restored");
    const live = await fixture.read(session.escrow);
    expect([
      live.state,
      live.next_actions.some(({ action }) => action === "close_session"),
    ]).toEqual(["Pending", false]);
    await restored.seller.captureAll();
    expect((await fixture.read(session.escrow)).released_stroops).toBe("30000");
    const ended = await session.close();
    expect([ended.outcome, ended.used, ended.calls]).toEqual(["closing", "30000", 3]);
    await restored.seller.close();
    await before.seller.close();
  }, 60_000);

  test("at once when the seller's store ended with its process, whatever the session had", async () => {
    const before = selling();
    let meets = before;
    const session = await sessionAt((url, init) => meets.reach(url, init));
    const created = (await fixture.lookAt([session.escrow as Address])).seen.get(
      session.escrow as Address,
    )?.escrow.createdAt;
    await until(
      "the ledger's time goes on",
      async () => (await fixture.lookAt([])).ledgerTime,
      (now) => now > (created ?? now),
    );
    meets = selling();
    expect((await failureOf(session.call(URL, { limit: "0.01" }))).code).toBe("session_restored");
    expect((await session.close()).outcome).toBe("closing");
    const next = await sessionAt(meets.reach);
    expect((await next.call(URL, { limit: "0.01" })).count).toBe(1);
    await before.seller.close();
    await meets.seller.close();
  }, 60_000);

  test("when the seller broke the rules, and nothing more is signed for it", async () => {
    const { seller, asked, reach } = selling();
    let isLying = false;
    const session = await sessionAt(async (url, init) => {
      const answer = await reach(url, init);
      return isLying ? new Response('{"count":9}', answer) : answer;
    });
    await session.call(URL, { limit: "0.01" });
    isLying = true;
    const { code, cure } = await failureOf(session.call(URL, { limit: "0.01" }));
    expect(code).toBe("another_payload");
    expect(cure).toContain("at stake is this one call's limit");
    const { stopped } = await session.state();
    expect([stopped?.code, stopped?.receipt?.length]).toEqual(["another_payload", 288]);
    const before = asked.length;
    expect((await failureOf(session.call(URL, { limit: "0.01" }))).code).toBe("session_stopped");
    const ended = await session.close();
    expect([ended.outcome, ended.used, asked.length]).toEqual(["closing", "10000", before]);
    await seller.close();
  }, 60_000);
});

test("the first call waits for a seller whose nodes do not show the session yet", async () => {
  const { seller, reach } = selling();
  let unseen = 3;
  const session = await sessionAt((url, init) =>
    unseen-- > 0
      ? Promise.resolve(
          new Response(JSON.stringify({ code: "session_unknown", detail: "No." }), {
            status: 402,
            headers: { "content-type": "application/problem+json" },
          }),
        )
      : reach(url, init),
  );
  expect((await session.call(URL, { limit: "0.01" })).count).toBe(1);
  unseen = 1;
  expect((await failureOf(session.call(URL, { limit: "0.01" }))).code).toBe("session_unknown");
  await session.close();
  await seller.close();
}, 60_000);

describe("payFetch", () => {
  const paying = (reach: Fetch, more: object = {}) =>
    payFetch(
      {
        service: fixture.service.url,
        trust: fixture.trust,
        rpc: fixture.rpc,
        clock: quickClock(),
        signer,
        maxPrice: "0.01",
        budget: "1.00",
        allowRent: true,
        journal: memorySessionJournal,
        ...more,
      },
      reach,
    );

  test("pays a merchant no more that broke the rules, and gives no voucher to a redirect", async () => {
    const { seller, asked, reach } = selling();
    let meets: "truth" | "redirect" | "lie" = "truth";
    const elsewhere: Array<string> = [];
    const pay = paying(async (url, init) => {
      if (!url.startsWith(URL)) elsewhere.push(url);
      if (meets === "redirect" && new Headers(init.headers).has("settlement-voucher"))
        return new Response(null, { status: 307, headers: { location: "https://x.example/" } });
      const answer = await reach(url, init);
      const isPaid = answer.headers.has("settlement-receipt");
      return meets === "lie" && isPaid ? new Response("{}", answer) : answer;
    });
    expect(await (await pay(URL)).json()).toEqual({ count: 1 });
    meets = "redirect";
    expect((await failureOf(pay(URL))).code).toBe("redirected");
    expect(elsewhere).toEqual([]);
    meets = "lie";
    expect((await failureOf(pay(URL))).code).toBe("another_payload");
    meets = "truth";
    const vouchers = asked.filter((each) => each === "voucher").length;
    const { code, message } = await failureOf(pay(URL));
    expect([code, message]).toEqual([
      "offer_refused",
      expect.stringContaining("has broken the rules"),
    ]);
    expect(asked.filter((each) => each === "voucher").length).toBe(vouchers);
    const ended = await pay.close();
    expect(ended.map((each) => each.ended?.outcome)).toEqual(["closing"]);
    await seller.close();
  }, 60_000);

  test("pays a merchant no more that charged for an answer that it did not give", async () => {
    const { seller, asked, reach } = selling();
    let isLost = false;
    const pay = paying(async (url, init) => {
      const answer = await reach(url, init);
      if (!isLost || !answer.headers.has("settlement-receipt")) return answer;
      // What an honest seller says whose answer was too long to be kept.
      const newest = await newestOf(seller);
      return new Response(JSON.stringify({ code: "call_delivered", detail: "Not kept." }), {
        status: 409,
        headers: { "content-type": "application/problem+json", "settlement-head": newest },
      });
    });
    expect((await pay(URL)).status).toBe(200);
    isLost = true;
    expect((await failureOf(pay(URL))).code).toBe("answer_lost");
    isLost = false;
    const vouchers = asked.filter((each) => each === "voucher").length;
    const { code, message } = await failureOf(pay(URL));
    expect([code, message]).toEqual([
      "offer_refused",
      expect.stringContaining("has charged for an answer that it did not give"),
    ]);
    expect(asked.filter((each) => each === "voucher").length).toBe(vouchers);
    expect((await pay.close()).map(({ ended }) => ended?.used)).toEqual(["20000"]);
    await seller.close();
  }, 60_000);

  test("passes by journals that another process holds, and asks for a price that rose again", async () => {
    const { seller, asked } = selling();
    const names: Array<string> = [];
    let price = "0.005";
    const rising: Fetch = (url, init) => {
      const request = new Request(url, init);
      asked.push(request.headers.has("settlement-voucher") ? "voucher" : "none");
      return seller.handle(request, price, (_, { count }) => Response.json({ count }));
    };
    const pay = paying(rising, {
      journal: (name: string) => {
        names.push(name);
        if (names.length === 1) throw new SettlementError("store_in_use", "Held.", "Wait.");
        return memorySessionJournal();
      },
    });
    expect(await (await pay(URL)).json()).toEqual({ count: 1 });
    const host = `api.example.com-${merchantKey.address}`;
    expect(names).toEqual([`${host}-1`, `${host}-2`]);
    price = "0.01";
    expect(await (await pay(URL)).json()).toEqual({ count: 2 });
    expect(asked).toEqual(["none", "voucher", "voucher", "none", "voucher"]);
    price = "0.02";
    expect((await failureOf(pay(URL))).code).toBe("offer_refused");
    expect((await pay.close()).map((each) => each.ended?.used)).toEqual(["15000"]);
    await seller.close();
  }, 60_000);
});
