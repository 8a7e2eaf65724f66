import { describe, expect, test } from "bun:test";
import type { AgentContext } from "../../../client/sessions/agent/send-call.ts";
import { callOnce } from "../../../client/sessions/agent/call-session.ts";
import { closeWithSeller } from "../../../client/sessions/agent/close-with-seller.ts";
import { memorySessionJournal } from "../../../client/sessions/agent/memory-journal.ts";
import { memorySessions, SharedSessions } from "../../../client/sessions/store/memory-sessions.ts";
import { answerCall } from "../../../client/sessions/seller/answer-call.ts";
import type { SellerContext } from "../../../client/sessions/seller/seller-context.ts";
import { SettlementError } from "../../../client/settlement-error.ts";
import type { Fetch } from "../../../client/service/fetch-directly.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { LAST_UNIX_SECOND } from "../../../core/domain/unix-time.ts";
import { RECEIPT_HEADER, receiptHeader } from "../../../core/protocol/calls/call-receipt.ts";
import { hash32FromBytes } from "../../../core/domain/hash32.ts";
import { parseVoucherHeader, VOUCHER_HEADER } from "../../../core/protocol/calls/call-voucher.ts";
import {
  HEAD_HEADER,
  type SessionHead,
  sessionHeadBytes,
} from "../../../core/protocol/calls/session-head.ts";
import { callIntent, callOrder } from "../../../core/protocol/calls/call-order.ts";
import { NO_CALLS, SessionTally } from "../../../core/protocol/calls/session-tally.ts";
import { TreeEdge } from "../../../core/log/tree/tree-edge.ts";
import {
  attest,
  ATTESTOR_SIGNER,
  KEPT,
  SESSION_SIGNER,
  TERMS,
} from "../../doubles/session-sides.ts";

const CLOCK = { nowMs: () => 1_772_366_500_000, pause: () => Promise.resolve() };
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const url = (path: number): string => `https://api.example.com/quotes/${path}`;

const agentIn = (fetch: Fetch): AgentContext => ({
  session: TERMS,
  network: KEPT.network,
  signer: SESSION_SIGNER,
  journal: memorySessionJournal(),
  fetch,
  clock: CLOCK,
});

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "none",
    (cause: unknown) => (cause instanceof SettlementError ? cause.code : String(cause)),
  );

const problem = (code: string, head?: SessionHead): Response =>
  new Response(JSON.stringify({ code, detail: "No." }), {
    status: 409,
    headers: {
      "content-type": "application/problem+json",
      ...(head === undefined ? {} : { [HEAD_HEADER]: encodeBase64(sessionHeadBytes(head)) }),
    },
  });

/** A seller that charges every voucher that it gets, and delivers nothing. */
const taker = (deliveredAt = 1_772_366_500n) => {
  let newest: SessionHead | null = null;
  const take = (to: string, init: RequestInit, before: SessionTally): SessionHead => {
    const voucher = parseVoucherHeader(new Headers(init.headers).get(VOUCHER_HEADER) ?? "");
    if (voucher === undefined) throw new Error("no voucher");
    const order = callOrder(
      callIntent(init.method ?? "GET", to, new Uint8Array()) ?? "",
      voucher.nonce,
      voucher.limit,
    );
    const delivery = {
      taskHash: order.taskHash,
      proofHash: hash32FromBytes(new Uint8Array(32).fill(7)),
      price: voucher.limit,
      totalAfter: before.total + voucher.limit,
      deliveredAt,
    };
    const { deliveries, total, count } = before.after(order, delivery);
    const attestation = attest({
      deliveries,
      total,
      count,
      timestamp: delivery.deliveredAt,
      isFinal: false,
    });
    newest = { voucher, receipt: { delivery, attestation }, before };
    return newest;
  };
  return { take, newest: () => newest };
};

const tallyOfAgent = async ({ journal }: AgentContext): Promise<SessionTally> => {
  const { head } = await journal.state();
  return head === null
    ? NO_CALLS
    : head.before.after(
        { taskHash: head.receipt.delivery.taskHash, limit: head.voucher.limit },
        head.receipt.delivery,
      );
};

/** An honest seller's process. */
const honest = (): Fetch => {
  const seller: SellerContext = {
    store: memorySessions(new SharedSessions()),
    view: { session: () => Promise.resolve({ session: KEPT }) },
    attestor: ATTESTOR_SIGNER,
    clock: CLOCK,
    onClosed: () => undefined,
  };
  return async (to, init) => {
    const request = {
      method: init.method ?? "GET",
      url: to,
      headers: new Headers(init.headers),
      body: new Uint8Array(init.body instanceof Uint8Array ? init.body : []),
      price: 5n,
    };
    const answer = await answerCall(seller, request, ({ count }) =>
      Promise.resolve({ status: 200, headers: [], body: utf8(`quote ${count}`) }),
    );
    if (answer === null) throw new Error("no voucher");
    return answer;
  };
};

describe("a seller that takes and delivers nothing", () => {
  test("gets one call's limit by saying that the answer is lost, and no further voucher", async () => {
    const { take } = taker();
    const vouchers = new Set<string>();
    const agent: AgentContext = agentIn(async (to, init) => {
      vouchers.add(new Headers(init.headers).get(VOUCHER_HEADER) ?? "");
      return problem("call_delivered", take(to, init, await tallyOfAgent(agent)));
    });
    const codes = [];
    for (let i = 1; i <= 4; i++)
      codes.push(await codeOf(callOnce(agent, { url: url(i), limit: 5n })));
    const before = "answer_lost_before";
    expect(codes).toEqual(["answer_lost", before, before, before]);
    expect(vouchers.size).toBe(1);
    expect((await tallyOfAgent(agent)).total).toBe(5n);
    // What remains is the closing, with what was taken.
    await codeOf(closeWithSeller(agent, url(1)));
    const { closing, stopped } = await agent.journal.state();
    expect([closing?.total, stopped]).toEqual([5n, null]);
  });

  test("gets no more by its silence, and by telling of each call at the next one", async () => {
    const { take, newest } = taker();
    const agent: AgentContext = agentIn(async (to, init) => {
      const head = newest();
      const tally = await tallyOfAgent(agent);
      if (head !== null && head.voucher.count === tally.count + 1)
        return problem("call_delivered", head);
      take(to, init, tally);
      return new Response("", { status: 503 });
    });
    for (let i = 1; i <= 6; i++) await codeOf(callOnce(agent, { url: url(i), limit: 5n }));
    expect((await agent.journal.state()).isAnswerLost).toBe(true);
    expect((await tallyOfAgent(agent)).total).toBe(5n);
  });

  test("gets no more at the closing", async () => {
    const { take, newest } = taker();
    const agent: AgentContext = agentIn(async (to, init) => {
      const voucher = parseVoucherHeader(new Headers(init.headers).get(VOUCHER_HEADER) ?? "");
      const head = newest();
      if (voucher?.isClosing === true && head !== null) return problem("agent_is_behind", head);
      if (head !== null) return problem("call_delivered", head);
      take(to, init, await tallyOfAgent(agent));
      return new Response("", { status: 503 });
    });
    expect(await codeOf(callOnce(agent, { url: url(1), limit: 5n }))).toBe("answer_lost");
    expect(await codeOf(callOnce(agent, { url: url(2), limit: 5n }))).toBe("answer_lost_before");
    expect(await codeOf(closeWithSeller(agent, url(2)))).toBe("seller_closes_not");
    expect((await agent.journal.state()).closing?.total).toBe(5n);
  });

  test("does not put another history before the agent's newest call", async () => {
    const fetch = honest();
    const { take } = taker();
    const agent: AgentContext = agentIn(async (to, init) => {
      const tally = await tallyOfAgent(agent);
      if (tally.count === 0) return fetch(to, init);
      const other = new SessionTally(
        tally.total,
        new TreeEdge(1, tally.edges.orders),
        new TreeEdge(1, [new Uint8Array(32).fill(9)]),
      );
      return problem("call_delivered", take(to, init, other));
    });
    await callOnce(agent, { url: url(1), limit: 5n });
    expect(await codeOf(callOnce(agent, { url: url(2), limit: 5n }))).toBe("equivocation");
    expect((await agent.journal.state()).head?.voucher.count).toBe(1);
  });

  test("dates no receipt so that its agent neither takes it nor stops", async () => {
    for (const deliveredAt of [LAST_UNIX_SECOND + 1n, 2n ** 63n - 1n, -1n]) {
      const { take } = taker(deliveredAt);
      const agent = agentIn(async (to, init) => {
        const { receipt } = take(to, init, NO_CALLS);
        return new Response("quote", { headers: { [RECEIPT_HEADER]: receiptHeader(receipt) } });
      });
      expect(await codeOf(callOnce(agent, { url: url(1), limit: 5n }))).toBe("another_payload");
      expect((await agent.journal.state()).stopped?.code).toBe("another_payload");
    }
  });

  test("does not name its refusals so that a terminal obeys", async () => {
    const code = await codeOf(
      callOnce(
        agentIn(() => Promise.resolve(problem("\u001b]0;owned\u0007"))),
        { url: url(1), limit: 5n },
      ),
    );
    // oxlint-disable-next-line no-control-regex
    expect(code).not.toMatch(/[\u0000-\u001f]/);
  });
});

describe("an agent before an honest seller", () => {
  test("is told of each call that it gave up, with its answer, and never stops for it", async () => {
    const fetch = honest();
    let isLost = true;
    const agent = agentIn(async (to, init) => {
      const answer = await fetch(to, init);
      if (!isLost) return answer;
      throw new TypeError("connection reset");
    });
    for (let i = 1; i <= 4; i++) {
      const body = utf8(`order ${i}`);
      isLost = true;
      const given = { method: "POST", url: url(i), limit: 5n, body };
      expect(await codeOf(callOnce(agent, given))).toBe("call_unanswered");
      isLost = false;
      const next = await callOnce(agent, { url: url(i + 100), limit: 5n });
      expect(next.count).toBe(2 * i);
    }
    const kept = [];
    for await (const { voucher } of agent.journal.calls(1)) kept.push(voucher.count);
    expect(kept).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  test("makes no call of HEAD and OPTIONS, which are free, nor of a URL with a password", async () => {
    const agent = agentIn(honest());
    for (const method of ["HEAD", "options"])
      expect(await codeOf(callOnce(agent, { method, url: url(1), limit: 5n }))).toBe(
        "invalid_request",
      );
    const secret = "https://me:secret@api.example.com/quotes/1";
    expect(await codeOf(callOnce(agent, { url: secret, limit: 5n }))).toBe("invalid_request");
    expect((await agent.journal.state()).pending).toBeNull();
  });

  test("orders what a runtime sends: the URL in its normal form, its own headers only", async () => {
    const fetch = honest();
    const agent = agentIn((to, init) => {
      expect(new Headers(init.headers).get("accept-encoding")).toBe("identity");
      return fetch(new URL(to).href, init);
    });
    const headers = {
      "Accept-Encoding": "gzip",
      "Settlement-Voucher": "AAAA",
      "Settlement-Head": "AAAA",
    };
    const raw = 'HTTPS://API.example.com:443/a/../b?q="x"#part';
    expect((await callOnce(agent, { url: raw, limit: 5n, headers })).count).toBe(1);
    expect((await callOnce(agent, { url: "https://api.example.com", limit: 5n })).count).toBe(2);
  });
});
