import { beforeEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { decodeBase64, encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { type CallOrder, callIntent, callOrder } from "../../../core/protocol/calls/call-order.ts";
import {
  type CallReceipt,
  parseReceiptHeader,
  RECEIPT_HEADER,
} from "../../../core/protocol/calls/call-receipt.ts";
import {
  type CallVoucher,
  VOUCHER_HEADER,
  voucherHeader,
} from "../../../core/protocol/calls/call-voucher.ts";
import { isAttestationSigned, receiptFault } from "../../../core/protocol/calls/judge-call.ts";
import {
  HEAD_HEADER,
  readSessionHead,
  sessionHeadBytes,
  type SessionHead,
  tallyOf,
} from "../../../core/protocol/calls/session-head.ts";
import { NO_CALLS, type SessionTally } from "../../../core/protocol/calls/session-tally.ts";
import { callProofHash } from "../../../core/protocol/calls/call-delivery.ts";
import { answerCall } from "../../../client/sessions/seller/answer-call.ts";
import type {
  CallHandler,
  CallRequest,
  SellerContext,
} from "../../../client/sessions/seller/seller-context.ts";
import type { SentAnswer } from "../../../client/sessions/store/session-store.ts";
import { memorySessions, SharedSessions } from "../../../client/sessions/store/memory-sessions.ts";
import { runs } from "../../arbitraries/runs.ts";
import { ATTESTOR_SIGNER, KEPT, TERMS, vouch } from "../../doubles/session-sides.ts";

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const NOW_MS = 1_772_366_500_000;

/** A seller's process over a place that others share. */
const seller = (place = new SharedSessions(), sign = ATTESTOR_SIGNER.sign) => {
  const closed: Array<string> = [];
  const store = memorySessions(place);
  const context: SellerContext = {
    store,
    view: { session: () => Promise.resolve({ session: KEPT }) },
    attestor: { ...ATTESTOR_SIGNER, sign },
    clock: { nowMs: () => NOW_MS, pause: () => Promise.resolve() },
    onClosed: (escrow) => closed.push(escrow),
  };
  return { context, closed, store };
};

/** An agent by the page: what it has accepted, and the call that it is waiting for. */
class Agent {
  head: SessionHead | null = null;
  tally: SessionTally = NO_CALLS;
  orders = 0;

  request(path: string, limit: bigint, headers: Readonly<Record<string, string>> = {}) {
    const url = `https://api.example.com/${path}`;
    const nonce = new Uint8Array(16).fill(++this.orders);
    const order = callOrder(callIntent("GET", url, new Uint8Array()) ?? "", nonce, limit);
    const voucher = vouch({
      orders: this.tally.ordersWith(order),
      total: this.tally.total + limit,
      count: this.tally.count + 1,
      isClosing: false,
      limit,
      nonce,
    });
    return { url, order, voucher, request: requestWith(url, voucher, limit, headers) };
  }

  /** Takes a receipt if it is right, as an agent must. */
  take(url: string, order: CallOrder, voucher: CallVoucher, answer: Answered): CallReceipt {
    const receipt = answer.receipt;
    if (receipt === undefined) throw new Error(`no receipt: ${answer.status} ${answer.text}`);
    const payload = callProofHash({
      taskHash: order.taskHash,
      network: KEPT.network,
      url,
      status: answer.status,
      body: utf8(answer.text),
      deliveredAt: receipt.delivery.deliveredAt,
    });
    expect(receiptFault(TERMS, this.tally, order, receipt, payload)).toBeUndefined();
    this.head = { voucher, receipt, before: this.tally };
    this.tally = tallyOf(this.head);
    return receipt;
  }

  closing(): CallRequest {
    const { orders, total, count } = this.tally;
    const voucher = vouch({
      orders,
      total,
      count,
      isClosing: true,
      limit: 0n,
      nonce: new Uint8Array(16),
    });
    return requestWith("https://api.example.com/", voucher, 0n);
  }
}

const requestWith = (
  url: string,
  voucher: CallVoucher,
  price: bigint,
  headers: Readonly<Record<string, string>> = {},
): CallRequest => ({
  method: "GET",
  url,
  headers: new Headers({ ...headers, [VOUCHER_HEADER]: voucherHeader(voucher) }),
  body: new Uint8Array(),
  price,
});

type Answered = {
  readonly status: number;
  readonly text: string;
  readonly receipt: CallReceipt | undefined;
  readonly code: string | null;
  readonly head: SessionHead | undefined;
};

const answered = async (response: Response | null): Promise<Answered> => {
  if (response === null) throw new Error("not taken for a call");
  const text = await response.text();
  const isProblem = response.headers.get("content-type") === "application/problem+json";
  return {
    status: response.status,
    text,
    receipt: parseReceiptHeader(response.headers.get(RECEIPT_HEADER) ?? ""),
    code: isProblem ? (JSON.parse(text) as { code: string }).code : null,
    head: readSessionHead(TERMS, decodeBase64(response.headers.get(HEAD_HEADER) ?? "") ?? utf8("")),
  };
};

/** A handler that waits until it is told to finish, and says when it has begun. */
const slowQuote = () => {
  const begun = Promise.withResolvers<void>();
  const finished = Promise.withResolvers<void>();
  const handler: CallHandler = async (paid) => {
    begun.resolve();
    await finished.promise;
    return quote(paid);
  };
  return { handler, begun: begun.promise, finish: finished.resolve };
};

const failureOf = (answer: Promise<unknown>): Promise<string> =>
  answer.then(
    () => "none",
    (cause: unknown) => String(cause),
  );

const quote: CallHandler = ({ count }) =>
  Promise.resolve({ status: 200, headers: [], body: utf8(`quote ${count}`) });

let agent: Agent;
beforeEach(() => {
  agent = new Agent();
});

const call = async (
  { context }: ReturnType<typeof seller>,
  { path = "a", limit = 100n, handler = quote } = {},
): Promise<CallReceipt> => {
  const { url, order, voucher, request } = agent.request(path, limit);
  return agent.take(
    url,
    order,
    voucher,
    await answered(await answerCall(context, request, handler)),
  );
};

describe("a seller's answer to a call", () => {
  test("has a receipt, costs what the handler charges, and nobody may keep it", async () => {
    const one = seller();
    const { url, order, voucher, request } = agent.request("a", 100n);
    const response = await answerCall(one.context, request, ({ charge, ...rest }) => {
      charge(70n);
      return quote({ charge, ...rest });
    });
    expect(response?.headers.get("cache-control")).toBe("private, no-store, no-transform");
    const receipt = agent.take(url, order, voucher, await answered(response));
    expect(receipt.delivery.price).toBe(70n);
    expect((await call(one)).delivery.totalAfter).toBe(170n);
  });

  test("the same call again has the same answer, and the handler does not run again", async () => {
    const one = seller();
    const { url, order, voucher, request } = agent.request("a", 100n);
    let runsOfHandler = 0;
    const counted: CallHandler = (paid) => {
      runsOfHandler += 1;
      return quote(paid);
    };
    const lost = await answered(await answerCall(one.context, request, counted));
    const again = await answered(await answerCall(one.context, request, counted));
    expect(again).toEqual(lost);
    expect(runsOfHandler).toBe(1);
    agent.take(url, order, voucher, again);
    await call(one);
    expect((await answered(await answerCall(one.context, request, counted))).code).toBe(
      "agent_is_behind",
    );
  });

  test("an answer of 400 and above, and a handler that throws, cost nothing", async () => {
    const one = seller();
    const { request } = agent.request("a", 100n);
    const missing = await answered(
      await answerCall(one.context, request, () =>
        Promise.resolve({ status: 404, headers: [], body: utf8("no quote") }),
      ),
    );
    expect([missing.status, missing.text, missing.receipt]).toEqual([404, "no quote", undefined]);
    const failing = answerCall(one.context, request, () => Promise.reject(new Error("no feed")));
    expect(await failureOf(failing)).toContain("no feed");
    expect((await call(one)).attestation.count).toBe(1);
  });

  test("a charge above the price fails, and nothing is charged", async () => {
    const one = seller();
    const { request } = agent.request("a", 100n);
    const greedy = answerCall(one.context, request, (paid) => {
      paid.charge(101n);
      return quote(paid);
    });
    expect(await failureOf(greedy)).toContain("101");
    expect((await call(one)).delivery.totalAfter).toBe(100n);
  });

  test("an attestor that fails costs nothing, and the call can be sent again", async () => {
    const place = new SharedSessions();
    const { request } = agent.request("a", 100n);
    const broken = seller(place, () => Promise.reject(new Error("no key")));
    expect(await failureOf(answerCall(broken.context, request, quote))).toContain("no key");
    expect((await call(seller(place))).attestation.count).toBe(1);
  });

  test("a redirect, and what no answer can be made of, cost nothing", async () => {
    const one = seller();
    const { request } = agent.request("a", 100n);
    const answering =
      (answer: Partial<SentAnswer>): CallHandler =>
      () =>
        Promise.resolve({ status: 200, headers: [], body: utf8("quote"), ...answer });
    for (const status of [301, 302, 304, 307]) {
      const answer = answering({ status, headers: [["location", "/b"]], body: utf8("") });
      const moved = await answered(await answerCall(one.context, request, answer));
      expect([moved.status, moved.receipt]).toEqual([status, undefined]);
    }
    for (const broken of [
      answering({ status: 99 }),
      answering({ status: 204 }),
      answering({ headers: [["a b", "c"]] }),
      answering({ headers: [["x", "c\nd"]] }),
      answering({ headers: [["content-encoding", "gzip"]] }),
    ])
      expect(await failureOf(answerCall(one.context, request, broken))).not.toBe("none");
    expect((await call(one)).attestation.count).toBe(1);
  });

  test("an answer without a body is delivered and paid", async () => {
    const empty: CallHandler = () =>
      Promise.resolve({ status: 204, headers: [], body: new Uint8Array() });
    expect((await call(seller(), { handler: empty })).delivery.price).toBe(100n);
  });

  test("no answer of a call leaves with a receipt or a record of the handler's own", async () => {
    const forged: CallHandler = () =>
      Promise.resolve({
        status: 404,
        headers: [
          [RECEIPT_HEADER, "AAAA"],
          [HEAD_HEADER, "AAAA"],
        ],
        body: utf8("no quote"),
      });
    const { request } = agent.request("a", 100n);
    const answer = await answerCall(seller().context, request, forged);
    expect(answer?.headers.has(RECEIPT_HEADER)).toBe(false);
    expect(answer?.headers.has(HEAD_HEADER)).toBe(false);
  });

  test("a request without a voucher is none of it", async () => {
    const { request } = agent.request("a", 100n);
    const plain = { ...request, headers: new Headers() };
    expect(await answerCall(seller().context, plain, quote)).toBeNull();
  });
});

describe("a seller refuses", () => {
  const refused = async (request: CallRequest, one = seller()): Promise<string | null> => {
    const handler: CallHandler = () => Promise.reject(new Error("the handler ran"));
    return (await answered(await answerCall(one.context, request, handler))).code;
  };

  test("a header that is no voucher", async () => {
    const { request } = agent.request("a", 100n);
    const headers = new Headers({ [VOUCHER_HEADER]: "AAAA" });
    expect(await refused({ ...request, headers })).toBe("invalid_voucher");
  });

  test("a limit below the price", async () => {
    const { request } = agent.request("a", 99n);
    expect(await refused({ ...request, price: 100n })).toBe("limit_below_price");
  });

  test("a voucher for another path, method or body", async () => {
    const { request } = agent.request("a", 100n);
    for (const other of [
      { url: "https://api.example.com/b" },
      { method: "POST" },
      { body: utf8("x") },
    ])
      expect(await refused({ ...request, ...other })).toBe("another_order");
    expect(await refused({ ...request, url: "https://api.example.com/ä" })).toBe("invalid_request");
  });

  test("what its view of the ledger refuses", async () => {
    const one = seller();
    const refusal = { code: "session_ended", detail: "It ends in 10 s." } as const;
    const context = { ...one.context, view: { session: () => Promise.resolve({ refusal }) } };
    const { request } = agent.request("a", 100n);
    expect(await refused(request, { ...one, context })).toBe("session_ended");
  });

  test("a second call while one is going on, in the same process and in another", async () => {
    const place = new SharedSessions();
    const [one, two] = [seller(place), seller(place)];
    const { url, order, voucher, request } = agent.request("a", 100n);
    const slow = slowQuote();
    const going = answerCall(one.context, request, slow.handler);
    await slow.begun;
    expect(await refused(request, one)).toBe("session_busy");
    expect(await refused(request, two)).toBe("session_busy");
    slow.finish();
    agent.take(url, order, voucher, await answered(await going));
  });

  test("a call after the closing, and a closing while a call is going on", async () => {
    const one = seller();
    await call(one);
    const next = agent.request("b", 100n);
    expect(await refused(agent.closing(), one)).toBeNull();
    expect(await refused(next.request, one)).toBe("session_ended");
    const two = seller();
    const { request } = new Agent().request("a", 100n);
    const slow = slowQuote();
    const going = answerCall(two.context, request, slow.handler);
    await slow.begun;
    expect(await refused(new Agent().closing(), two)).toBe("session_busy");
    slow.finish();
    await going;
  });
});

describe("the closing of a session", () => {
  test("is answered by the final attestation, the same each time, and told once", async () => {
    const one = seller();
    await call(one, { limit: 30n });
    await call(one, { limit: 40n });
    const answers = [];
    for (let i = 0; i < 2; i++)
      answers.push(await answered(await answerCall(one.context, agent.closing(), quote)));
    const [first, second] = answers;
    expect(first).toEqual(second as Answered);
    const shown = JSON.parse(first?.text ?? "") as {
      total_stroops: string;
      count: number;
      timestamp: number;
      deliveries: string;
      attestation_signature: string;
    };
    expect([shown.total_stroops, shown.count]).toEqual(["70", 2]);
    const { total, count, deliveries } = agent.tally;
    expect(
      isAttestationSigned(TERMS, {
        deliveries,
        total,
        count,
        timestamp: BigInt(shown.timestamp),
        isFinal: true,
        signature: decodeBase64(shown.attestation_signature) ?? utf8(""),
      }),
    ).toBe(true);
    expect(one.closed).toEqual([TERMS.escrow]);
  });
});

describe("a side that is behind", () => {
  test("a seller whose store was lost takes no further call and signs no end, and keeps the agent's record", async () => {
    const one = seller();
    await call(one);
    await call(one);
    await call(one);
    const restored = seller(new SharedSessions(KEPT.createdAt + 1n));
    const { request } = agent.request("d", 100n);
    const codes: Array<string | null> = [];
    const send = async (asked: CallRequest, isHeadShown: boolean): Promise<Answered> => {
      if (agent.head === null) throw new Error("no call was taken");
      const headers = new Headers({
        [VOUCHER_HEADER]: asked.headers.get(VOUCHER_HEADER) ?? "",
        ...(isHeadShown ? { [HEAD_HEADER]: encodeBase64(sessionHeadBytes(agent.head)) } : {}),
      });
      const answer = await answered(
        await answerCall(restored.context, { ...asked, headers }, quote),
      );
      codes.push(answer.code);
      return answer;
    };
    await send(request, false);
    await send(request, true);
    await send(agent.closing(), true);
    expect(codes).toEqual(["seller_is_behind", "session_restored", "session_restored"]);
    const stored = await restored.store.find(KEPT.escrow);
    expect([stored?.newest?.voucher.count, stored?.final]).toEqual([3, null]);
  });

  test("a seller whose store was lost answers no first call either", async () => {
    const { request } = agent.request("a", 100n);
    const restored = seller(new SharedSessions(KEPT.createdAt + 1n));
    expect((await answered(await answerCall(restored.context, request, quote))).code).toBe(
      "session_restored",
    );
  });

  test("an agent that lost its record goes on from the seller's", async () => {
    const one = seller();
    await call(one);
    await call(one);
    const restored = new Agent();
    const { request } = restored.request("c", 100n);
    const { code, head } = await answered(await answerCall(one.context, request, quote));
    expect(code).toBe("agent_is_behind");
    expect(head && tallyOf(head).deliveries).toBe(agent.tally.deliveries);
  });
});

describe("any order of lost answers, doubled messages, crashes and processes", () => {
  test("one receipt for each call leaves the seller, and an honest agent is never stuck", async () => {
    const step = fc.record({
      process: fc.nat({ max: 1 }),
      limit: fc.bigInt({ min: 1n, max: 50n }),
      fault: fc.constantFrom("none", "answer lost", "doubled", "handler", "attestor", "crash"),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        agent = new Agent();
        const place = new SharedSessions();
        const left = new Map<number, string>();
        const leave = ({ receipt }: Answered): void => {
          if (receipt === undefined) return;
          const { count, deliveries } = receipt.attestation;
          expect(left.get(count) ?? deliveries).toBe(deliveries);
          left.set(count, deliveries);
        };
        let sum = 0n;
        for (const { process, limit, fault } of steps) {
          const { url, order, voucher, request } = agent.request("a", limit);
          const processes = [0, 1].map(() => seller(place)) as [
            ReturnType<typeof seller>,
            ReturnType<typeof seller>,
          ];
          const one = processes[process === 0 ? 0 : 1];
          const send = async (handler = quote, context = one.context): Promise<Answered> => {
            const given = await answered(await answerCall(context, request, handler));
            leave(given);
            return given;
          };
          if (fault === "answer lost") await send();
          if (fault === "doubled") await Promise.all([send(), send(quote, processes[0].context)]);
          if (fault === "handler")
            await send(() => Promise.reject(new Error("no feed"))).catch(() => undefined);
          if (fault === "attestor")
            await send(quote, {
              ...one.context,
              attestor: { ...ATTESTOR_SIGNER, sign: () => Promise.reject(new Error("no key")) },
            }).catch(() => undefined);
          if (fault === "crash") {
            // It ends between the delivery and the record.
            const dying = seller(place);
            const never = answerCall(dying.context, request, () => new Promise(() => {}));
            void never;
            for (let i = 0; i < 20; i++) await Promise.resolve();
            dying.store.crash();
          }
          const given = await send();
          sum += agent.take(url, order, voucher, given).delivery.price;
        }
        expect(agent.tally.total).toBe(sum);
        expect(agent.tally.count).toBe(steps.length);
      }),
      runs(20),
    );
  });
});
