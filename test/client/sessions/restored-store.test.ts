import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { answerCall } from "../../../client/sessions/seller/answer-call.ts";
import type { SellerContext } from "../../../client/sessions/seller/seller-context.ts";
import {
  noticingAttestor,
  noticingStore,
  storeBeginning,
} from "../../../client/sessions/seller/restored-store.ts";
import {
  keepingAttestor,
  memorySessionClaims,
} from "../../../client/sessions/seller/session-attestor.ts";
import { memorySessions, SharedSessions } from "../../../client/sessions/store/memory-sessions.ts";
import { NOT_BEGUN } from "../../../client/sessions/store/session-store.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { callIntent, callOrder } from "../../../core/protocol/calls/call-order.ts";
import {
  type CallAttestation,
  parseReceiptHeader,
  RECEIPT_HEADER,
} from "../../../core/protocol/calls/call-receipt.ts";
import {
  type CallVoucher,
  VOUCHER_HEADER,
  voucherHeader,
} from "../../../core/protocol/calls/call-voucher.ts";
import { contradictionOf } from "../../../core/protocol/calls/equivocation.ts";
import {
  HEAD_HEADER,
  type SessionHead,
  sessionHeadBytes,
  tallyOf,
} from "../../../core/protocol/calls/session-head.ts";
import { NO_CALLS, type SessionTally } from "../../../core/protocol/calls/session-tally.ts";
import { addressFromBytes } from "../../../core/domain/address.ts";
import { failureOf } from "../support/failure-of.ts";
import { runs } from "../../arbitraries/runs.ts";
import { ATTESTOR_SIGNER, KEPT, TERMS, vouch } from "../../doubles/session-sides.ts";

const NOW_MS = Number(KEPT.createdAt + 100n) * 1000;
const CLOCK = { nowMs: () => NOW_MS, pause: () => Promise.resolve() };
const PRICE = 10n;
const URL = "https://api.example.com/quotes";
const { escrow } = TERMS;
/** Another session of the same store. */
const OTHER = { ...KEPT, escrow: addressFromBytes(new Uint8Array(32).fill(61)) };

/** What a backup has of a place: all that is there now. */
const copyOf = (place: SharedSessions, bornAt = place.bornAt): SharedSessions => {
  const copy = new SharedSessions(bornAt);
  for (const [address, held] of place.held)
    copy.held.set(address, { ...held, holder: null, calls: [...held.calls] });
  return copy;
};

/** A seller's process over a place, and what its attestor's key signed. */
const sellerOver = (place: SharedSessions, more: Partial<SellerContext> = {}, onLedger = 0) => {
  const signed: Array<string> = [];
  const problems: Array<string> = [];
  const told = {
    nowMs: CLOCK.nowMs,
    onProblem: ({ code }: { readonly code: string }) => void problems.push(code),
  };
  const inner = memorySessions(place);
  const store = noticingStore(inner, { ...told, deliveriesSeen: () => onLedger });
  const context: SellerContext = {
    store,
    view: { session: () => Promise.resolve({ session: KEPT }) },
    attestor: {
      ...ATTESTOR_SIGNER,
      sign: (message) => {
        signed.push("an attestation");
        return ATTESTOR_SIGNER.sign(message);
      },
    },
    clock: CLOCK,
    onClosed: () => undefined,
    ...more,
  };
  const ask = async (voucher: CallVoucher, head: SessionHead | null = null) => {
    const headers = new Headers({ [VOUCHER_HEADER]: voucherHeader(voucher) });
    if (head !== null) headers.set(HEAD_HEADER, encodeBase64(sessionHeadBytes(head)));
    const request = { method: "GET", url: URL, headers, body: new Uint8Array(), price: PRICE };
    const answer = await answerCall(context, request, () =>
      Promise.resolve({ status: 200, headers: [], body: new TextEncoder().encode("quote") }),
    );
    if (answer === null) throw new Error("no voucher");
    const text = await answer.text();
    const parsed = text.startsWith("{") ? (JSON.parse(text) as Record<string, unknown>) : {};
    return { answer, code: parsed["code"] ?? answer.status, parsed };
  };
  return { ask, store, inner, signed, problems, told };
};

type Seller = ReturnType<typeof sellerOver>;

const voucherAfter = (tally: SessionTally, salt = 0): CallVoucher => {
  const nonce = new Uint8Array(16).fill(tally.count + 1);
  nonce[15] = salt;
  const order = callOrder(callIntent("GET", URL, new Uint8Array()) ?? "", nonce, PRICE);
  return vouch({
    orders: tally.ordersWith(order),
    total: tally.total + PRICE,
    count: tally.count + 1,
    isClosing: false,
    limit: PRICE,
    nonce,
  });
};

const closingAt = ({ orders, total, count }: SessionTally): CallVoucher =>
  vouch({ orders, total, count, isClosing: true, limit: 0n, nonce: new Uint8Array(16) });

/** Makes a number of calls, and gives the newest record. */
const called = async (seller: Seller, calls: number): Promise<SessionHead> => {
  for (let i = 0; i < calls; i++) {
    const newest = (await seller.store.find(escrow))?.newest ?? null;
    const { answer } = await seller.ask(voucherAfter(newest === null ? NO_CALLS : tallyOf(newest)));
    expect(answer.status).toBe(200);
  }
  const head = (await seller.store.find(escrow))?.newest ?? null;
  if (head === null) throw new Error("no call was taken");
  return head;
};

/** A place after two calls, its copy, and the newest record one call later. */
const putBack = async () => {
  const place = new SharedSessions();
  const first = sellerOver(place);
  await first.store.open(OTHER);
  const old = await called(first, 2);
  const copy = copyOf(place);
  const newest = await called(first, 1);
  return { place, copy, old, newest };
};

describe("a store that was restored", () => {
  test("signs neither a call nor an end, says so in one answer, and has what the agent shows", async () => {
    const { copy, old, newest } = await putBack();
    copy.bornAt = KEPT.createdAt + 1n;
    const seller = sellerOver(copy);
    const { answer, parsed } = await seller.ask(voucherAfter(tallyOf(old), 1));
    expect([answer.status, parsed["code"], answer.headers.has("retry-after")]).toEqual([
      503,
      "session_restored",
      false,
    ]);
    expect(parsed["cure"]).toContain("close_session");
    for (const head of [null, newest]) {
      expect((await seller.ask(closingAt(tallyOf(old)), head)).code).not.toBe(200);
      expect((await seller.ask(closingAt(tallyOf(newest)), head)).code).toBe(
        head === null ? "seller_is_behind" : "session_restored",
      );
    }
    const stored = await seller.store.find(escrow);
    expect([stored?.newest?.voucher.count, stored?.closing, stored?.final]).toEqual([
      3,
      null,
      null,
    ]);
    expect(seller.signed).toEqual([]);
  });

  test("gives again what was signed before: the newest answer, and the end that is kept", async () => {
    const place = new SharedSessions();
    const first = sellerOver(place);
    const head = await called(first, 1);
    const early = sellerOver(copyOf(place, KEPT.createdAt + 1n));
    const again = await early.ask(head.voucher);
    expect([again.answer.status, early.signed]).toEqual([200, []]);
    const end = await first.ask(closingAt(tallyOf(head)));
    const late = sellerOver(copyOf(place, KEPT.createdAt + 1n));
    const kept = await late.ask(closingAt(tallyOf(head)));
    expect([kept.parsed, late.signed]).toEqual([end.parsed, []]);
  });
});

describe("a store that was put back without a mark is noticed", () => {
  const expectDistrusted = async (copy: SharedSessions, newest: SessionHead): Promise<void> => {
    // By the next process as well, and for every session that was there.
    const next = sellerOver(copy);
    const { code } = await next.ask(voucherAfter(tallyOf(newest)), newest);
    expect([code, next.signed]).toEqual(["session_restored", []]);
    expect((await next.store.find(OTHER.escrow))?.isRestored).toBe(true);
    const later = { ...OTHER, escrow: addressFromBytes(new Uint8Array(32).fill(62)) };
    await next.store.open({ ...later, createdAt: KEPT.createdAt + 101n });
    expect((await next.store.find(later.escrow))?.isRestored).toBe(false);
  };

  test("by a record that the agent shows", async () => {
    const { copy, newest } = await putBack();
    const seller = sellerOver(copy);
    const next = voucherAfter(tallyOf(newest));
    expect((await seller.ask(next)).code).toBe("seller_is_behind");
    expect((await seller.ask(next, newest)).code).toBe("session_restored");
    expect([seller.signed, seller.problems]).toEqual([[], ["store_restored"]]);
    await expectDistrusted(copy, newest);
  });

  test("by the deliveries on the ledger", async () => {
    const { copy, old, newest } = await putBack();
    const seller = sellerOver(copy, {}, 3);
    expect((await seller.ask(voucherAfter(tallyOf(old), 1))).code).toBe("session_restored");
    expect([seller.signed, seller.problems]).toEqual([[], ["store_restored"]]);
    await expectDistrusted(copy, newest);
  });

  test("by an attestor that signed further", async () => {
    const place = new SharedSessions();
    const keeping = keepingAttestor(ATTESTOR_SIGNER, memorySessionClaims());
    const first = sellerOver(place, { attestor: keeping });
    await first.store.open(OTHER);
    const old = await called(first, 1);
    const copy = copyOf(place);
    const newest = await called(first, 1);
    const { told, inner } = sellerOver(copy);
    const seller = sellerOver(copy, { attestor: noticingAttestor(keeping, inner, told) });
    const hidden = voucherAfter(tallyOf(old), 1);
    expect((await failureOf(seller.ask(hidden))).code).toBe("attestor_unusable");
    expect((await seller.ask(hidden)).code).toBe("session_restored");
    await expectDistrusted(copy, newest);
  });
});

test("a store that is found to be a copy while its seller runs begins again, by the ledger's time of then", async () => {
  const place = new SharedSessions(NOT_BEGUN);
  let ledgerTime = KEPT.createdAt;
  const look = { slot: 1, seen: new Map(), merchant: undefined };
  const { unbegun, again } = storeBeginning(memorySessions(place), () =>
    Promise.resolve({ ...look, ledgerTime }),
  );
  expect([await unbegun(), place.bornAt]).toEqual([null, KEPT.createdAt]);
  ledgerTime += 9n;
  await again();
  expect(place.bornAt).toBe(KEPT.createdAt);
  place.bornAt = NOT_BEGUN;
  await again();
  expect([await unbegun(), place.bornAt]).toEqual([null, KEPT.createdAt + 9n]);
});

test("put back at any moments, a store that is told never contradicts what left it", async () => {
  const step = fc.record({
    does: fc.constantFrom("call", "call", "call", "other", "close", "copy", "put back"),
    shows: fc.boolean(),
    back: fc.nat(2),
    salt: fc.nat(1),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 24 }), async (steps) => {
      let place = new SharedSessions();
      let copy = copyOf(place);
      let seller = sellerOver(place);
      const heads: Array<SessionHead> = [];
      const left: Array<CallAttestation> = [];
      for (const { does, shows, back, salt } of steps) {
        if (does === "copy") copy = copyOf(place);
        if (does === "put back") {
          place = copyOf(copy, KEPT.createdAt + 1n);
          seller = sellerOver(place);
        }
        if (does === "copy" || does === "put back") continue;
        // An agent that hides what it has: it goes on from one of its newest records.
        const head = heads.at(-1 - (does === "call" ? 0 : back)) ?? null;
        const tally = head === null ? NO_CALLS : tallyOf(head);
        const voucher = does === "close" ? closingAt(tally) : voucherAfter(tally, salt);
        const { answer, parsed } = await seller.ask(voucher, shows ? head : null);
        const receipt = parseReceiptHeader(answer.headers.get(RECEIPT_HEADER) ?? "");
        const newest = (await seller.store.find(escrow))?.newest ?? null;
        if (receipt !== undefined) {
          left.push(receipt.attestation);
          if (newest !== null && newest.voucher.count > (heads.at(-1)?.voucher.count ?? 0))
            heads.push(newest);
        }
        const final = (await seller.store.find(escrow))?.final ?? null;
        if (parsed["closed"] === true && final !== null) left.push(final);
      }
      for (const [at, one] of left.entries())
        for (const two of left.slice(at + 1)) expect(contradictionOf(one, two)).toBeUndefined();
    }),
    runs(60),
  );
});
