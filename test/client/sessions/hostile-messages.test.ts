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
import { SettlementError } from "../../../client/settlement-error.ts";
import { decodeBase64, encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { LAST_UNIX_SECOND } from "../../../core/domain/unix-time.ts";
import { callProofHash } from "../../../core/protocol/calls/call-delivery.ts";
import { callIntent, callOrder } from "../../../core/protocol/calls/call-order.ts";
import {
  type CallAttestation,
  parseReceiptHeader,
  RECEIPT_HEADER,
  receiptHeader,
} from "../../../core/protocol/calls/call-receipt.ts";
import {
  type CallVoucher,
  parseVoucherHeader,
  VOUCHER_HEADER,
  voucherHeader,
} from "../../../core/protocol/calls/call-voucher.ts";
import { contradictionOf } from "../../../core/protocol/calls/equivocation.ts";
import { isAttestationSigned, isVoucherSigned } from "../../../core/protocol/calls/judge-call.ts";
import {
  HEAD_HEADER,
  readSessionHead,
  type SessionHead,
  sessionHeadBytes,
  tallyOf,
} from "../../../core/protocol/calls/session-head.ts";
import { NO_CALLS, type SessionTally } from "../../../core/protocol/calls/session-tally.ts";
import { runs } from "../../arbitraries/runs.ts";
import {
  attest,
  ATTESTOR_SIGNER,
  KEPT,
  SESSION_SIGNER,
  TERMS,
  vouch,
} from "../../doubles/session-sides.ts";

/** Hostile messages of each property in the suite; 100,000 are the long form. */
const MESSAGES = Number(process.env["HOSTILE_MESSAGES"] ?? "600");
const MOST_OF_ONE = 40;
const NOW_MS = 1_772_366_500_000;
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const PRICE = 30n;

/** What the seller may take for what it delivered: the newest record's voucher covers the attested total. */
const isTakeable = (attestation: CallAttestation, voucher: CallVoucher): boolean =>
  isVoucherSigned(TERMS, voucher) &&
  attestation.total <= voucher.total &&
  attestation.count <= voucher.count &&
  voucher.total <= TERMS.amount;

/** One message of a hostile agent, whose own key signs anything. */
const HOSTILE_CALL = fc.record({
  path: fc.nat(2),
  nonce: fc.nat(2),
  count: fc.oneof(
    { weight: 6, arbitrary: fc.constant(1) },
    { weight: 2, arbitrary: fc.integer({ min: -1, max: 3 }) },
    { weight: 1, arbitrary: fc.constant(2 ** 32 - 1) },
  ),
  totalOff: fc.oneof(
    { weight: 6, arbitrary: fc.constant(0n) },
    { weight: 1, arbitrary: fc.constantFrom(-1n, 1n, -30n, 30n, 1_000_000n, 2n ** 64n - 1n) },
  ),
  limit: fc.constantFrom(0n, 29n, 30n, 31n, 400_000n),
  closes: fc.nat(11).map((n) => n === 0),
  from: fc.nat(3),
  head: fc.nat(4),
  spoil: fc.nat(9),
  charge: fc.constantFrom(0n, 1n, 29n, 30n),
  status: fc.constantFrom(200, 200, 200, 201, 204, 302, 404, 500),
  process: fc.nat(1),
  event: fc.constantFrom("none", "none", "none", "none", "crash", "twice", "twice", "dies"),
});
type HostileCall = typeof HOSTILE_CALL extends fc.Arbitrary<infer T> ? T : never;

/** An honest seller of two processes, and all that left it. */
const honestSeller = () => {
  const place = new SharedSessions();
  const processOver = () => memorySessions(place);
  const stores = [processOver(), processOver()];
  const left: Array<CallAttestation> = [];
  const heads: Array<SessionHead> = [];
  let delivered = 0n;
  const contextOf = (at: number): SellerContext => ({
    store: stores[at % 2] as ReturnType<typeof processOver>,
    view: { session: () => Promise.resolve({ session: KEPT }) },
    attestor: ATTESTOR_SIGNER,
    clock: { nowMs: () => NOW_MS + left.length * 1000, pause: () => Promise.resolve() },
    onClosed: () => undefined,
  });
  return {
    stores,
    left,
    heads,
    contextOf,
    add: (units: bigint) => (delivered += units),
    sum: () => delivered,
  };
};

const finalIn = async (answer: Response, tally: SessionTally): Promise<CallAttestation | null> => {
  if (answer.headers.get("content-type")?.startsWith("application/json") !== true) return null;
  const shown = JSON.parse(await answer.text()) as Readonly<Record<string, string | number>>;
  return {
    deliveries: tally.deliveries,
    total: BigInt(shown["total_stroops"] ?? 0),
    count: Number(shown["count"]),
    timestamp: BigInt(shown["timestamp"] ?? 0),
    isFinal: true,
    signature: decodeBase64(String(shown["attestation_signature"])) ?? new Uint8Array(64),
  };
};

const voucherOf = (call: HostileCall, heads: ReadonlyArray<SessionHead>) => {
  // From an older record at times, as an agent that wants a second delivery of one count.
  const base = heads.at(call.from === 0 ? -2 : -1);
  const tally = base === undefined ? NO_CALLS : tallyOf(base);
  const url = `https://api.example.com/${call.path}`;
  const nonce = new Uint8Array(16).fill(call.nonce);
  const order = callOrder(callIntent("GET", url, new Uint8Array()) ?? "", nonce, call.limit);
  const isClosing = call.closes;
  const u64 = (units: bigint): bigint => BigInt.asUintN(64, units);
  const count = isClosing ? tally.count : (tally.count + call.count) >>> 0;
  const voucher = vouch({
    orders: isClosing ? tally.orders : tally.ordersWith(order),
    total: u64(tally.total + (isClosing ? 0n : call.limit) + call.totalOff),
    count,
    isClosing,
    limit: isClosing ? 0n : call.limit,
    nonce: isClosing ? new Uint8Array(16) : nonce,
  });
  const signature = Uint8Array.from(voucher.signature);
  if (call.spoil === 0) signature.set([(signature[40] ?? 0) ^ 1], 40);
  return { url, voucher: { ...voucher, signature } };
};

describe("an honest seller before a hostile agent", () => {
  test("signs no two contradicting attestations, and can take all that it delivered", async () => {
    let sent = 0;
    let deliveries = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(HOSTILE_CALL, { minLength: 1, maxLength: MOST_OF_ONE }),
        async (calls) => {
          const seller = honestSeller();
          for (const call of calls) {
            const { url, voucher } = voucherOf(call, seller.heads);
            const shown = seller.heads.at(-1 - call.head);
            const headers = new Headers({ [VOUCHER_HEADER]: voucherHeader(voucher) });
            if (shown !== undefined)
              headers.set(HEAD_HEADER, encodeBase64(sessionHeadBytes(shown)));
            const request = { method: "GET", url, headers, body: new Uint8Array(), price: PRICE };
            if (call.event === "crash") for (const store of seller.stores) store.crash();
            const ask = (at: number) =>
              answerCall(seller.contextOf(at), request, async ({ charge }) => {
                charge(call.charge);
                // The others take this process for dead while it goes on.
                if (call.event === "dies") for (const store of seller.stores) store.crash();
                await Promise.resolve();
                const body = call.status === 204 ? "" : `quote ${call.path}`;
                return { status: call.status, headers: [], body: utf8(body) };
              });
            const asked = ["twice", "dies"].includes(call.event) ? [0, 1, 0] : [call.process];
            const answers = await Promise.all(asked.map(ask));
            sent += asked.length;
            const stored = await seller.stores[0]?.find(TERMS.escrow);
            const newest = stored?.newest ?? null;
            for (const answer of answers) {
              if (answer === null) throw new Error("no voucher");
              const receipt = parseReceiptHeader(answer.headers.get(RECEIPT_HEADER) ?? "");
              const final = await finalIn(answer, newest === null ? NO_CALLS : tallyOf(newest));
              for (const attestation of [receipt?.attestation, final]) {
                if (attestation === undefined || attestation === null) continue;
                expect(isAttestationSigned(TERMS, attestation)).toBe(true);
                seller.left.push(attestation);
              }
              if (receipt === undefined || newest === null) continue;
              if (newest.voucher.count === (seller.heads.at(-1)?.voucher.count ?? 0)) continue;
              deliveries += 1;
              seller.heads.push(newest);
              seller.add(receipt.delivery.price);
              expect(isTakeable(receipt.attestation, newest.voucher)).toBe(true);
              const bytes = sessionHeadBytes(newest);
              expect(readSessionHead(TERMS, bytes)).toBeDefined();
            }
            expect(newest === null ? 0n : tallyOf(newest).total).toBe(seller.sum());
          }
          for (const [at, one] of seller.left.entries())
            for (const two of seller.left.slice(at + 1))
              expect(contradictionOf(one, two)).toBeUndefined();
        },
      ),
      runs(Math.ceil(MESSAGES / (MOST_OF_ONE / 4))),
    );
    if (MESSAGES > 600)
      console.log(`${sent} messages of a hostile agent, ${deliveries} deliveries`);
    expect(deliveries).toBeGreaterThan(0);
  }, 600_000);
});

/** What a hostile seller makes of one voucher; its attestor's key signs anything. */
const HOSTILE_ANSWER = fc.record({
  // What stops a session at once is rare, so that sessions last.
  kind: fc.oneof(
    {
      weight: 14,
      arbitrary: fc.constantFrom("honest", "honest", "delivered", "other head", "silent", "proxy"),
    },
    {
      weight: 4,
      arbitrary: fc.constantFrom("busy", "behind", "ahead", "old head", "error"),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        "wrong price",
        "wrong total",
        "wrong count",
        "wrong time",
        "no time",
        "wrong body",
        "final receipt",
        "unsigned",
      ),
    },
  ),
  price: fc.constantFrom(0n, 1n, 30n, 30n),
});
type HostileAnswer = typeof HOSTILE_ANSWER extends fc.Arbitrary<infer T> ? T : never;

const problem = (code: string, head: SessionHead | null, status = 409): Response =>
  new Response(JSON.stringify({ code, detail: "No." }), {
    status,
    headers: {
      "content-type": "application/problem+json",
      ...(head === null ? {} : { [HEAD_HEADER]: encodeBase64(sessionHeadBytes(head)) }),
    },
  });

/** A seller that knows where its agent stands, and answers as it is told. */
const hostileSeller = (answers: Array<HostileAnswer>, tally: () => Promise<SessionTally>) => {
  const vouchers: Array<CallVoucher> = [];
  const heads: Array<SessionHead> = [];
  let messages = 0;
  const fetch = async (to: string, init: RequestInit): Promise<Response> => {
    const voucher = parseVoucherHeader(new Headers(init.headers).get(VOUCHER_HEADER) ?? "");
    if (voucher === undefined) throw new Error("no voucher");
    vouchers.push(voucher);
    messages += 1;
    const { kind, price } = answers.shift() ?? { kind: "honest", price: 1n };
    if (kind === "silent") throw new TypeError("reset");
    if (kind === "proxy") return new Response("", { status: 502 });
    if (kind === "error") return new Response("no", { status: 404 });
    if (kind === "busy") return problem("session_busy", null);
    if (kind === "behind") return problem("seller_is_behind", null);
    if (kind === "ahead") return problem("agent_is_behind", heads.at(-1) ?? null);
    if (kind === "old head") return problem("call_delivered", heads[0] ?? null);
    if (voucher.isClosing) return problem("agent_is_behind", heads.at(-1) ?? null);
    const before = await tally();
    const intent = callIntent(init.method ?? "GET", to, new Uint8Array()) ?? "";
    const order = callOrder(intent, voucher.nonce, voucher.limit);
    const body = utf8("quote");
    const deliveredAt = 1_772_366_500n;
    const at = kind === "no time" ? LAST_UNIX_SECOND + 1n : deliveredAt;
    const asked = kind === "wrong price" ? voucher.limit + 1n : price;
    const proofHash = callProofHash({
      taskHash: order.taskHash,
      network: KEPT.network,
      url: to,
      status: 200,
      body,
      deliveredAt,
    });
    const totalAfter = before.total + asked + (kind === "wrong total" ? 1n : 0n);
    const delivery = {
      taskHash: order.taskHash,
      proofHash,
      price: asked,
      totalAfter,
      deliveredAt: at,
    };
    const after = before.after(order, delivery);
    const attestation = attest({
      deliveries: after.deliveries,
      total: after.total,
      count: after.count + (kind === "wrong count" ? 1 : 0),
      timestamp: at + (kind === "wrong time" ? 1n : 0n),
      isFinal: kind === "final receipt",
    });
    const signature = kind === "unsigned" ? new Uint8Array(64) : attestation.signature;
    const receipt = { delivery, attestation: { ...attestation, signature } };
    heads.push({ voucher, receipt, before });
    if (kind === "delivered") return problem("call_delivered", heads.at(-1) ?? null);
    if (kind === "other head") return problem("agent_is_behind", heads.at(-1) ?? null);
    const shown = kind === "wrong body" ? utf8("other") : body;
    return new Response(new Uint8Array(shown), {
      headers: { [RECEIPT_HEADER]: receiptHeader(receipt) },
    });
  };
  return { fetch, vouchers, messages: () => messages };
};

describe("an honest agent before a hostile seller", () => {
  test("signs at most one call's limit above what it got answers for, whatever it is told", async () => {
    let messages = 0;
    let accepted = 0;
    const step = fc.record({
      path: fc.nat(2),
      limit: fc.constantFrom(30n, 30n, 30n, 31n),
      closes: fc.nat(19),
      restarts: fc.nat(9),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(HOSTILE_ANSWER, { minLength: 1, maxLength: MOST_OF_ONE }),
        fc.array(step, { minLength: 1, maxLength: 20 }),
        async (answers, steps) => {
          const standing = async (): Promise<SessionTally> => {
            const { head } = await journal.state();
            return head === null ? NO_CALLS : tallyOf(head);
          };
          const seller = hostileSeller([...answers], standing);
          const journal = memorySessionJournal();
          const agentOver = (kept: SessionJournal): AgentContext => ({
            session: TERMS,
            network: KEPT.network,
            signer: SESSION_SIGNER,
            journal: kept,
            fetch: seller.fetch,
            clock: { nowMs: () => NOW_MS, pause: () => Promise.resolve() },
          });
          let agent = agentOver(journal);
          for (const { path, limit, closes, restarts } of steps) {
            // A process that ended knows the journal, and no request that it sent before.
            if (restarts === 0) agent = agentOver({ ...journal });
            const url = `https://api.example.com/${path}`;
            const work: Promise<unknown> =
              closes === 0 ? closeWithSeller(agent, url) : callOnce(agent, { url, limit });
            await work.catch((cause: unknown) => {
              if (!(cause instanceof SettlementError)) throw cause;
            });
          }
          let got = 0n;
          for await (const { receipt } of agent.journal.calls(1)) {
            got += receipt.delivery.price;
            accepted += 1;
          }
          // The seller can take the most that any voucher says, and no more.
          for (const { total } of seller.vouchers) expect(total - got).toBeLessThanOrEqual(31n);
          const totals = new Map<number, bigint>();
          for (const { count, total: signed, isClosing, limit } of seller.vouchers) {
            const before = isClosing ? signed : signed - limit;
            const key = isClosing ? count : count - 1;
            expect(totals.get(key) ?? before).toBe(before);
            totals.set(key, before);
          }
          messages += seller.messages();
        },
      ),
      runs(Math.ceil(MESSAGES / (MOST_OF_ONE / 2))),
    );
    if (MESSAGES > 600)
      console.log(`${messages} messages of a hostile seller, ${accepted} accepted`);
    expect(accepted).toBeGreaterThan(0);
  }, 600_000);
});
