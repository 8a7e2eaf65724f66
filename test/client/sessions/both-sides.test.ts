import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { AgentContext } from "../../../client/sessions/agent/send-call.ts";
import { callOnce } from "../../../client/sessions/agent/call-session.ts";
import { closeWithSeller } from "../../../client/sessions/agent/close-with-seller.ts";
import { memorySessionJournal } from "../../../client/sessions/agent/memory-journal.ts";
import type { SessionJournal } from "../../../client/sessions/agent/session-journal.ts";
import { answerCall } from "../../../client/sessions/seller/answer-call.ts";
import type { SellerContext } from "../../../client/sessions/seller/seller-context.ts";
import { memorySessions, SharedSessions } from "../../../client/sessions/store/memory-sessions.ts";
import { tallyIn } from "../../../client/sessions/store/session-state.ts";
import { SettlementError } from "../../../client/settlement-error.ts";
import type { Fetch } from "../../../client/service/fetch-directly.ts";
import { RECEIPT_HEADER } from "../../../core/protocol/calls/call-receipt.ts";
import { tallyOf } from "../../../core/protocol/calls/session-head.ts";
import { runs } from "../../arbitraries/runs.ts";
import { ATTESTOR_SIGNER, KEPT, SESSION_SIGNER, TERMS } from "../../doubles/session-sides.ts";

const NOW_MS = 1_772_366_500_000;
const CLOCK = { nowMs: () => NOW_MS, pause: () => Promise.resolve() };
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

const sellerOver = (place: SharedSessions): SellerContext => ({
  store: memorySessions(place),
  view: { session: () => Promise.resolve({ session: KEPT }) },
  attestor: ATTESTOR_SIGNER,
  clock: CLOCK,
  onClosed: () => undefined,
});

/** What becomes of one message: it never arrives, its answer is lost, it comes twice, or a proxy answers. */
const FAULTS = [
  "none",
  "request lost",
  "answer lost",
  "doubled",
  "proxy",
  "handler fails",
] as const;
type Fault = (typeof FAULTS)[number];

/** A world of one agent and two processes of a seller, whose messages meet faults. */
const world = () => {
  let place = new SharedSessions();
  const faults: Array<Fault> = [];
  const delivered: Array<string> = [];
  let processes = [sellerOver(place), sellerOver(place)];
  let turn = 0;
  let isLost = false;
  const price = (url: string): bigint => BigInt(new URL(url).searchParams.get("price") ?? "0");
  const reach = async (url: string, init: RequestInit, fails: boolean): Promise<Response> => {
    const seller = processes[turn++ % processes.length];
    if (seller === undefined) throw new Error("no process");
    const request = {
      method: init.method ?? "GET",
      url,
      headers: new Headers(init.headers),
      body: new Uint8Array(),
      price: price(url),
    };
    const answer = await answerCall(seller, request, ({ count }) => {
      if (fails) return Promise.resolve({ status: 503, headers: [], body: utf8("no feed") });
      delivered.push(`${count} ${url}`);
      return Promise.resolve({ status: 200, headers: [], body: utf8(`quote ${count}`) });
    });
    if (answer === null) throw new Error("no voucher");
    return answer;
  };
  const fetch: Fetch = async (url, init) => {
    const fault = faults.shift() ?? "none";
    if (fault === "request lost") throw new TypeError("connection refused");
    if (fault === "proxy") return new Response("bad gateway", { status: 502 });
    if (fault === "doubled") await Promise.all([reach(url, init, false), reach(url, init, false)]);
    const answer = await reach(url, init, fault === "handler fails");
    if (fault === "answer lost") throw new TypeError("connection reset");
    return answer;
  };
  return {
    faults,
    delivered,
    fetch,
    /** Both processes end, and others begin over the same store. */
    restartSeller: () => {
      processes = [sellerOver(place), sellerOver(place)];
    },
    /** The store is an empty one, as after a disk that was lost. */
    loseStore: () => {
      isLost = true;
      place = new SharedSessions(KEPT.createdAt + 1n);
      processes = [sellerOver(place), sellerOver(place)];
    },
    isLost: () => isLost,
    seller: () => processes[0] as SellerContext,
  };
};

const agentIn = (fetch: Fetch, journal: SessionJournal = memorySessionJournal()): AgentContext => ({
  session: TERMS,
  network: KEPT.network,
  signer: SESSION_SIGNER,
  journal,
  fetch,
  clock: CLOCK,
});

const url = (path: number, price: bigint): string =>
  `https://api.example.com/quotes/${path}?price=${price}`;

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "none",
    (cause: unknown) => (cause instanceof SettlementError ? cause.code : String(cause)),
  );

describe("agent and seller", () => {
  test("make calls, and close with the same sum", async () => {
    const { fetch, seller } = world();
    const agent = agentIn(fetch);
    for (let i = 1; i <= 5; i++) {
      const answer = await callOnce(agent, { url: url(i, 10n), limit: 15n });
      expect([answer.count, answer.price]).toEqual([i, 10n]);
      expect(new TextDecoder().decode(answer.body)).toBe(`quote ${i}`);
    }
    const tally = await closeWithSeller(agent, url(0, 0n));
    expect([tally.count, tally.total]).toEqual([5, 50n]);
    const stored = await seller().store.find(TERMS.escrow);
    expect(stored?.final?.total).toBe(50n);
    expect(await codeOf(callOnce(agent, { url: url(6, 10n), limit: 15n }))).toBe("session_closed");
  });

  test("any faults of messages, processes and disks lose nothing between honest sides", async () => {
    const step = fc.record({
      faults: fc.array(fc.constantFrom(...FAULTS), { maxLength: 3 }),
      between: fc.constantFrom(
        "none",
        "none",
        "none",
        "seller restarts",
        "store lost",
        "agent restarts",
      ),
      price: fc.bigInt({ min: 0n, max: 30n }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 15 }), async (steps) => {
        const here = world();
        let agent = agentIn(here.fetch);
        let paid = 0n;
        let calls = 0;
        for (const [at, { faults, between, price }] of steps.entries()) {
          if (between === "seller restarts") here.restartSeller();
          if (between === "store lost") here.loseStore();
          if (between === "agent restarts") agent = agentIn(here.fetch, agent.journal);
          here.faults.push(...faults);
          const isLost = between === "store lost";
          const answer = await callOnce(agent, { url: url(at, price), limit: 30n }).catch(
            (cause: unknown) => {
              if (isLost && cause instanceof SettlementError && cause.code === "session_restored")
                return null;
              throw cause;
            },
          );
          here.faults.length = 0;
          if (answer === null) break;
          if (answer.count === null) continue;
          calls += 1;
          paid += answer.price;
          expect([answer.count, answer.price]).toEqual([calls, price]);
        }
        const isRestored = here.isLost();
        const closed = closeWithSeller(agent, url(0, 0n));
        // A restored seller signs no end, and has the record by which it can capture.
        if (isRestored) expect(await codeOf(closed)).toBe("session_restored");
        const stored = await here.seller().store.find(TERMS.escrow);
        const { count, total } = isRestored
          ? tallyIn({ newest: stored?.newest ?? null })
          : await closed;
        expect([count, total]).toEqual([calls, paid]);
        // One delivery for each call that was paid, and no other left the seller.
        expect(here.delivered.length).toBe(calls);
        expect((await agent.journal.state()).stopped).toBeNull();
      }),
      runs(30),
    );
  });

  test("an agent whose journal is an older copy signs no further call, and closes at the seller's record", async () => {
    const { fetch } = world();
    const first = agentIn(fetch);
    for (let i = 1; i <= 3; i++) await callOnce(first, { url: url(i, 10n), limit: 10n });
    const restored = agentIn(fetch);
    const further = callOnce(restored, { url: url(4, 10n), limit: 10n });
    expect(await codeOf(further)).toBe("answer_lost_before");
    const { head } = await restored.journal.state();
    expect(head && tallyOf(head).total).toBe(30n);
    const { count, total } = await closeWithSeller(restored, url(4, 10n));
    expect([count, total]).toEqual([3, 30n]);
  });

  test("what was too large to be kept is not paid twice when its answer is lost, and nothing follows it", async () => {
    const place = new SharedSessions();
    const seller = sellerOver(place);
    let lose = true;
    const agent = agentIn(async (to, init) => {
      const headers = new Headers(init.headers);
      const request = { method: "GET", url: to, headers, body: new Uint8Array(), price: 5n };
      const body = new Uint8Array(2_000_000);
      const answer = await answerCall(seller, request, () =>
        Promise.resolve({ status: 200, headers: [], body }),
      );
      if (answer === null || lose) {
        lose = false;
        throw new TypeError("connection reset");
      }
      return answer;
    });
    expect(await codeOf(callOnce(agent, { url: url(1, 5n), limit: 5n }))).toBe("answer_lost");
    expect(await codeOf(callOnce(agent, { url: url(2, 5n), limit: 5n }))).toBe(
      "answer_lost_before",
    );
    expect((await closeWithSeller(agent, url(2, 5n))).total).toBe(5n);
  });
});

describe("an agent before a seller that lies", () => {
  const lying = (change: (answer: Response) => Promise<Response> | Response) => {
    const { fetch } = world();
    return agentIn(async (to, init) => change(await fetch(to, init)));
  };

  test.each<[string, string, (answer: Response) => Promise<Response>]>([
    [
      "another body",
      "another_payload",
      (answer) => Promise.resolve(new Response("quote 2", { headers: answer.headers })),
    ],
    [
      "another status",
      "another_payload",
      async (answer) => new Response(await answer.text(), { status: 201, headers: answer.headers }),
    ],
    [
      "a receipt of no form",
      "receipt_not_signed",
      (answer) => {
        answer.headers.set(RECEIPT_HEADER, "AAAA");
        return Promise.resolve(answer);
      },
    ],
  ])("%s stops the session, and both signatures are kept", async (_, code, change) => {
    const agent = lying(change);
    expect(await codeOf(callOnce(agent, { url: url(1, 5n), limit: 5n }))).toBe(code);
    const { stopped, pending } = await agent.journal.state();
    expect(stopped?.code).toBe(code);
    expect(stopped?.receipt).not.toBeNull();
    expect(pending?.voucher.count).toBe(1);
    expect(await codeOf(callOnce(agent, { url: url(1, 5n), limit: 5n }))).toBe("session_stopped");
  });

  test("a redirect gets no voucher", async () => {
    const asked: Array<string> = [];
    const agent = agentIn((to) => {
      asked.push(to);
      return Promise.resolve(
        new Response(null, { status: 307, headers: { location: "https://other.example/" } }),
      );
    });
    expect(await codeOf(callOnce(agent, { url: url(1, 5n), limit: 5n }))).toBe("redirected");
    expect(asked).toEqual([url(1, 5n)]);
  });

  test("a seller that is always behind, ahead without proof, or silent ends in a named error", async () => {
    const problem = (code: string) => () =>
      Promise.resolve(
        new Response(JSON.stringify({ code, detail: "No." }), {
          status: 409,
          headers: { "content-type": "application/problem+json", "settlement-head": "AAAA" },
        }),
      );
    const call = (fetch: Fetch) => codeOf(callOnce(agentIn(fetch), { url: url(1, 5n), limit: 5n }));
    expect(await call(problem("seller_is_behind"))).toBe("seller_is_behind");
    expect(await call(problem("agent_is_behind"))).toBe("invalid_record");
    expect(await call(problem("session_busy"))).toBe("call_unanswered");
    expect(await call(problem("made_up"))).toBe("made_up");
    expect(await call(() => Promise.reject(new TypeError("refused")))).toBe("call_unanswered");
    expect(await codeOf(closeWithSeller(agentIn(problem("session_busy")), url(0, 0n)))).toBe(
      "seller_closes_not",
    );
  });

  test("more than the budget is never signed", async () => {
    const { fetch } = world();
    const work = callOnce(agentIn(fetch), { url: url(1, 5n), limit: TERMS.amount + 1n });
    expect(await codeOf(work)).toBe("budget_exceeded");
  });
});
