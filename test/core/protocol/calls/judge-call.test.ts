import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { CallOrder } from "../../../../core/protocol/calls/call-order.ts";
import type { CallReceipt } from "../../../../core/protocol/calls/call-receipt.ts";
import type { CallVoucher } from "../../../../core/protocol/calls/call-voucher.ts";
import {
  judgeVoucher,
  type NewestOrder,
  receiptFault,
} from "../../../../core/protocol/calls/judge-call.ts";
import {
  readSessionHead,
  sessionHeadBytes,
  tallyOf,
} from "../../../../core/protocol/calls/session-head.ts";
import { NO_CALLS, type SessionTally } from "../../../../core/protocol/calls/session-tally.ts";
import { runs } from "../../../arbitraries/runs.ts";
import {
  attest,
  headAfter,
  honestCall,
  honestCalls,
  type PlannedCall,
  TERMS,
  vouch,
} from "../../../doubles/session-sides.ts";

const anyPlan: fc.Arbitrary<ReadonlyArray<PlannedCall>> = fc.array(
  fc
    .bigInt({ min: 1n, max: 5000n })
    .chain((limit) =>
      fc.record({ limit: fc.constant(limit), price: fc.bigInt({ min: 0n, max: limit }) }),
    ),
  { minLength: 1, maxLength: 20 },
);

type Call = ReturnType<typeof honestCall>;
const newestOf = ({ order, voucher: { nonce } }: Call): NewestOrder => ({ order, nonce });
const judged = (
  tally: SessionTally,
  newest: NewestOrder,
  voucher: CallVoucher,
  order: CallOrder | null,
): string => {
  const judgement = judgeVoucher(TERMS, tally, newest, voucher, order);
  return "asks" in judgement ? judgement.asks : judgement.fault.code;
};

const [one, two, three] = honestCalls([
  { limit: 100n, price: 70n },
  { limit: 100n, price: 100n },
  { limit: 50n, price: 0n },
]) as [Call, Call, Call];

const closing = (tally: SessionTally, changes: Partial<CallVoucher> = {}): CallVoucher =>
  vouch({
    orders: tally.orders,
    total: tally.total,
    count: tally.count,
    isClosing: true,
    limit: 0n,
    nonce: new Uint8Array(16),
    ...changes,
  });

describe("an honest session", () => {
  test("each voucher is for the next call, once more for the same, and each receipt is taken", () => {
    fc.assert(
      fc.property(anyPlan, (plan) => {
        let newest: NewestOrder = null;
        for (const call of honestCalls(plan)) {
          expect(judged(call.before, newest, call.voucher, call.order)).toBe("next");
          const { before, order, receipt } = call;
          expect(
            receiptFault(TERMS, before, order, receipt, receipt.delivery.proofHash),
          ).toBeUndefined();
          newest = newestOf(call);
          expect(judged(call.after, newest, call.voucher, call.order)).toBe("again");
          expect(judged(call.after, newest, closing(call.after), null)).toBe("closing");
          const head = readSessionHead(TERMS, sessionHeadBytes(headAfter(call)));
          expect(head && tallyOf(head).deliveries).toBe(call.after.deliveries);
          expect(head && tallyOf(head).orders).toBe(call.after.orders);
        }
      }),
      runs(10),
    );
  });
});

describe("a seller refuses", () => {
  const next = (changes: Partial<CallVoucher>): CallVoucher =>
    vouch({ ...two.voucher, ...changes });

  test.each<[string, string, CallVoucher, CallOrder | null]>([
    ["a total above limit and what was taken", "another_total", next({ total: 171n }), two.order],
    ["a total below them", "another_total", next({ total: 169n }), two.order],
    [
      "a limit that the voucher was not made for",
      "another_total",
      next({ limit: 99n, total: 170n }),
      { ...two.order, limit: 99n },
    ],
    [
      "another request",
      "another_order",
      two.voucher,
      { ...two.order, taskHash: one.order.taskHash },
    ],
    ["no request", "another_order", two.voucher, null],
    [
      "orders of another history",
      "another_order",
      next({ orders: three.voucher.orders }),
      two.order,
    ],
    ["the call after the next", "seller_is_behind", three.voucher, three.order],
    [
      "a call before the newest",
      "call_delivered",
      vouch({ ...one.voucher, orders: two.voucher.orders }),
      two.order,
    ],
    [
      "another session's",
      "voucher_of_another_session",
      { ...two.voucher, escrow: TERMS.sessionKey },
      two.order,
    ],
    [
      "a signature of another message",
      "voucher_not_signed",
      { ...two.voucher, signature: one.voucher.signature },
      two.order,
    ],
    ["a count that was not signed", "voucher_not_signed", { ...two.voucher, count: 1 }, two.order],
    [
      "a closing that was not signed",
      "voucher_not_signed",
      { ...closing(one.after), isClosing: false },
      two.order,
    ],
    ["a closing of more calls", "seller_is_behind", closing(two.after), null],
    ["a closing of less", "agent_is_behind", closing(one.after, { total: 69n }), null],
    [
      "a closing of other orders",
      "agent_is_behind",
      closing(one.after, { orders: two.after.orders }),
      null,
    ],
  ])("%s", (_, code, voucher, order) => {
    expect(judged(one.after, newestOf(one), voucher, order)).toBe(code);
  });

  test("a call of long ago, and any before the first record", () => {
    expect(judged(three.after, newestOf(three), one.voucher, one.order)).toBe("agent_is_behind");
    const none = vouch({ ...one.voucher, count: 0 });
    expect(judged(NO_CALLS, null, none, one.order)).toBe("agent_is_behind");
  });

  test("what is above the budget", () => {
    const all = honestCall(NO_CALLS, { limit: TERMS.amount, price: TERMS.amount });
    expect(judged(NO_CALLS, null, all.voucher, all.order)).toBe("next");
    const more = honestCall(NO_CALLS, { limit: TERMS.amount + 1n, price: 1n });
    expect(judged(NO_CALLS, null, more.voucher, more.order)).toBe("budget_exceeded");
    const after = honestCall(all.after, { limit: 1n, price: 0n });
    expect(judged(all.after, newestOf(all), after.voucher, after.order)).toBe("budget_exceeded");
  });
});

describe("an agent refuses", () => {
  const { receipt, order, before } = two;
  const { delivery, attestation } = receipt;
  /** The receipt with a changed leaf, attested anew as a dishonest seller's attestor would. */
  const sold = (changes: Partial<CallReceipt["delivery"]>): CallReceipt => {
    const leaf = { ...delivery, ...changes };
    const after = before.after(order, leaf);
    const { signature: _, ...claim } = attestation;
    return {
      delivery: leaf,
      attestation: attest({
        ...claim,
        deliveries: after.deliveries,
        total: leaf.totalAfter,
        timestamp: leaf.deliveredAt,
      }),
    };
  };
  const claimed = (changes: Partial<CallReceipt["attestation"]>): CallReceipt => {
    const { signature: _, ...claim } = attestation;
    return { delivery, attestation: attest({ ...claim, ...changes }) };
  };

  test.each<[string, string, CallReceipt]>([
    ["another call's leaf", "receipt_of_another_call", sold({ taskHash: one.order.taskHash })],
    ["a price above the limit", "price_above_limit", sold({ price: 101n, totalAfter: 171n })],
    ["a total that its price does not explain", "another_total", sold({ totalAfter: 171n })],
    ["an attested total above the leaf's", "another_total", claimed({ total: 171n })],
    ["more deliveries", "receipt_of_another_call", claimed({ count: 3 })],
    ["fewer deliveries", "receipt_of_another_call", claimed({ count: 1 })],
    ["a final attestation", "receipt_of_another_call", claimed({ isFinal: true })],
    [
      "a root over something else",
      "receipt_of_another_call",
      claimed({ deliveries: one.after.deliveries }),
    ],
    [
      "an attestation of another time",
      "receipt_of_another_call",
      claimed({ timestamp: delivery.deliveredAt + 1n }),
    ],
    ["another payload", "another_payload", sold({ proofHash: one.receipt.delivery.proofHash })],
    [
      "the attestation of the call before",
      "another_total",
      { delivery, attestation: one.receipt.attestation },
    ],
    [
      "a signature of another message",
      "receipt_not_signed",
      { delivery, attestation: { ...attestation, signature: one.receipt.attestation.signature } },
    ],
  ])("%s", (_, code, bad) => {
    expect(receiptFault(TERMS, before, order, bad, delivery.proofHash)?.code as string).toBe(code);
  });
});

describe("the newest record", () => {
  test("with one byte changed anywhere, cut short or with more behind it, is none", () => {
    const change = fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 }));
    fc.assert(
      fc.property(fc.constantFrom(one, two, three), change, ({ ...call }, [at, mask]) => {
        const bytes = sessionHeadBytes(headAfter(call));
        const index = at % bytes.length;
        const changed = bytes.slice();
        changed[index] = (changed[index] ?? 0) ^ mask;
        // The nonce is bound by the task hash alone, which the bytes do not open.
        const isNonce = index >= 96 && index < 112;
        expect(readSessionHead(TERMS, changed) !== undefined).toBe(isNonce);
        expect(readSessionHead(TERMS, bytes.slice(0, index))).toBeUndefined();
        expect(
          readSessionHead(TERMS, Uint8Array.from([...bytes, ...new Uint8Array(1 + (at % 64))])),
        ).toBeUndefined();
      }),
      runs(60),
    );
  });

  test("of another session is none", () => {
    const bytes = sessionHeadBytes(headAfter(two));
    expect(readSessionHead({ ...TERMS, terms: TERMS.domain }, bytes)).toBeUndefined();
    expect(readSessionHead({ ...TERMS, domain: TERMS.terms }, bytes)).toBeUndefined();
    expect(readSessionHead({ ...TERMS, sessionKey: TERMS.attestor }, bytes)).toBeUndefined();
    expect(readSessionHead({ ...TERMS, attestor: TERMS.sessionKey }, bytes)).toBeUndefined();
    expect(readSessionHead({ ...TERMS, amount: 169n }, bytes)).toBeUndefined();
  });
});
