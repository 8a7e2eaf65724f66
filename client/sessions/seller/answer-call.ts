import { bytesToHex } from "@noble/hashes/utils.js";
import type { Address } from "../../../core/domain/address.ts";
import { decodeBase64, encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { type CallDelivery, callProofHash } from "../../../core/protocol/calls/call-delivery.ts";
import { callIntent, type CallOrder, callOrder } from "../../../core/protocol/calls/call-order.ts";
import {
  attestedCallsMessage,
  type CallAttestation,
  type CallReceipt,
  RECEIPT_HEADER,
  receiptHeader,
} from "../../../core/protocol/calls/call-receipt.ts";
import {
  type CallVoucher,
  parseVoucherHeader,
  VOUCHER_HEADER,
} from "../../../core/protocol/calls/call-voucher.ts";
import { isAttestationSigned, judgeVoucher } from "../../../core/protocol/calls/judge-call.ts";
import {
  HEAD_HEADER,
  orderOf,
  readSessionHead,
  tallyOf,
} from "../../../core/protocol/calls/session-head.ts";
import { NO_CALLS, type SessionTally } from "../../../core/protocol/calls/session-tally.ts";
import type { MessageSigner } from "../../signing/sign-transaction.ts";
import type { ClientClock } from "../../service/requests.ts";
import type {
  KeptSession,
  SentAnswer,
  SessionStore,
  StagedCall,
  StoredSession,
} from "../store/session-store.ts";
import { SettlementError } from "../../settlement-error.ts";
import type { SessionAttestor } from "./session-attestor.ts";
import { PRIVATE, type Refusal, refusalAnswer, refusalOf } from "./refusal.ts";

/** A seller's own view of the ledger, by which it takes sessions. Answers are from memory once a session is known. */
export type LedgerView = {
  /**
   * The session of an escrow, if further calls are taken for it now; otherwise why not. A session that the store has is
   * still told of its newest call, and closed.
   */
  readonly session: (
    escrow: Address,
  ) => Promise<{ readonly session: KeptSession } | { readonly refusal: Refusal }>;
};

/** What answering calls needs. */
export type SellerContext = {
  readonly store: SessionStore;
  readonly view: LedgerView;
  /** A key, or an attestor that keeps what it signed: then each delivery is staged before it is asked. */
  readonly attestor: MessageSigner | SessionAttestor;
  readonly clock: ClientClock;
  /** Told of each session that the agent closed, once its final attestation is kept. */
  readonly onClosed: (escrow: Address) => void;
  /** Told of each call that was recorded, with what all calls of its session cost so far, base units. */
  readonly onCall?: (session: KeptSession, total: bigint) => void;
};

/** A request that is sold: what it says on the wire, and what it costs. */
export type CallRequest = {
  readonly method: string;
  /** As the agent asked for it: absolute, whatever a proxy made of it. */
  readonly url: string;
  readonly headers: { readonly get: (name: string) => string | null };
  readonly body: Uint8Array;
  /** Base units, the most that this call costs. */
  readonly price: bigint;
};

/** What a handler is told of the call that it answers. */
export type PaidCall = {
  readonly escrow: Address;
  /** Which call of the session it is, from 1 on. */
  readonly count: number;
  /** 32 hex digits, new for each call. After a crash the handler may run again for one that it has seen. */
  readonly nonce: string;
  /** Charges less than the price, in base units. The last one counts. @throws RangeError for more than the price. */
  readonly charge: (units: bigint) => void;
};

/**
 * Answers one call. What it throws, a redirect, and an answer of 400 or above are not charged. The body has no content
 * coding: it is attested as it is.
 */
export type CallHandler = (call: PaidCall) => Promise<SentAnswer>;

/** The longest body that is kept to be given again, bytes. A longer answer is delivered once. */
const MOST_KEPT_BYTES = 1_048_576;
/** How often a call is judged anew when another process was quicker. */
const MOST_TRIES = 3;

/** The statuses whose answers have no body (WHATWG Fetch, "null body status"). */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/** An answer on its way; without a receipt it is not paid. @throws RangeError, TypeError when none can be made of it */
const responseOf = ({ status, headers, body }: SentAnswer, receipt: string | null): Response => {
  if (!Number.isInteger(status) || status < 200 || status > 599)
    throw new RangeError(`${status} is no status of an answer`);
  const given = new Headers(headers.map(([name, value]): [string, string] => [name, value]));
  for (const name of [RECEIPT_HEADER, HEAD_HEADER]) given.delete(name);
  if (receipt !== null) {
    given.set("cache-control", PRIVATE);
    given.set(RECEIPT_HEADER, receipt);
  }
  const content = WITHOUT_BODY.has(status) ? null : new Uint8Array(body);
  return new Response(content, { status, headers: given });
};

/** @throws RangeError for an answer that its agent could not take, so that nothing is charged for it */
const requireSendable = (answer: SentAnswer): void => {
  const coding = responseOf(answer, "").headers.get("content-encoding") ?? "identity";
  if (coding.toLowerCase() !== "identity")
    throw new RangeError(`an answer in the content coding ${coding} is no call's`);
  if (WITHOUT_BODY.has(answer.status) && answer.body.length > 0)
    throw new RangeError(`an answer of ${answer.status} has no body`);
};

const tallyIn = ({ newest }: StoredSession): SessionTally =>
  newest === null ? NO_CALLS : tallyOf(newest);

/** An attestor that gave no attestation. The same call again asks it for the same one. */
export class AttestorUnusable extends SettlementError {
  constructor(reason: string, cause: unknown) {
    super("attestor_unusable", `The attestor: ${reason}.`, "Send the same call again.", { cause });
  }
}

/** The attestation of a session's deliveries, signed. */
const attested = async (
  { attestor }: Pick<SellerContext, "attestor">,
  session: KeptSession,
  tally: SessionTally,
  timestamp: bigint,
  isFinal: boolean,
): Promise<CallAttestation> => {
  const claim = {
    deliveries: tally.deliveries,
    total: tally.total,
    timestamp,
    count: tally.count,
    isFinal,
  };
  if (!("attest" in attestor))
    return { ...claim, signature: await attestor.sign(attestedCallsMessage(session, claim)) };
  const given = await attestor.attest(session, claim).catch((cause: unknown) => {
    throw new AttestorUnusable(cause instanceof Error ? cause.message : "it failed", cause);
  });
  const signed = { ...claim, signature: given.signature };
  if (isAttestationSigned(session, signed)) return signed;
  throw new AttestorUnusable("it signed another claim", null);
};

/** The present second, never before the session's creation: an attestation from before it is worth nothing. */
const nowIn = ({ clock }: Pick<SellerContext, "clock">, { createdAt }: KeptSession): bigint => {
  const now = BigInt(Math.floor(clock.nowMs() / 1000));
  return now < createdAt ? createdAt : now;
};

/**
 * How far a session is, by this store and by the newest record that the agent shows. A store that was restored from a
 * backup goes on by that.
 */
const standing = async (
  { store }: SellerContext,
  session: KeptSession,
  request: CallRequest,
): Promise<StoredSession> => {
  await store.open(session);
  const shown = request.headers.get(HEAD_HEADER);
  const head = readSessionHead(session, decodeBase64(shown ?? "") ?? new Uint8Array());
  const stored = await store.find(session.escrow);
  if (head !== undefined && head.voucher.count > (stored?.newest?.voucher.count ?? 0))
    await store.adopt(head);
  const now = await store.find(session.escrow);
  if (now === null) throw new Error("a session that was opened is not there");
  return now;
};

/** Has a delivery attested and records it; null when another process was quicker. */
const recorded = async (
  context: SellerContext,
  session: KeptSession,
  tally: SessionTally,
  { voucher, delivery, intent, status, answer }: StagedCall,
): Promise<CallReceipt | null> => {
  const order = { taskHash: delivery.taskHash, limit: voucher.limit };
  const after = tally.after(order, delivery);
  const attestation = await attested(context, session, after, delivery.deliveredAt, false);
  const receipt = { delivery, attestation };
  if (!(await context.store.append({ voucher, receipt, intent, status }, answer))) return null;
  context.onCall?.(session, delivery.totalAfter);
  return receipt;
};

/** Runs the handler for a call that is reserved, and records what it answered before that leaves the seller. */
const delivered = async (
  context: SellerContext,
  { session, ...stored }: StoredSession,
  request: CallRequest,
  { voucher, order, intent }: { voucher: CallVoucher; order: CallOrder; intent: string },
  handler: CallHandler,
): Promise<Response | null> => {
  const { store } = context;
  let price = request.price;
  const charge = (units: bigint): void => {
    if (units < 0n || units > request.price)
      throw new RangeError(`${units} is no charge of 0 to ${request.price} base units`);
    price = units;
  };
  const { escrow, count } = voucher;
  const answer = await handler({ escrow, count, nonce: bytesToHex(voucher.nonce), charge });
  if (answer.status >= 300) {
    await store.drop(escrow);
    return responseOf(answer, null);
  }
  requireSendable(answer);
  const deliveredAt = nowIn(context, session);
  const { status, body } = answer;
  const { taskHash } = order;
  const url = request.url.replace(/#.*$/s, "");
  const tally = tallyIn({ session, ...stored });
  const delivery: CallDelivery = {
    taskHash,
    proofHash: callProofHash({
      taskHash,
      network: session.network,
      url,
      status,
      body,
      deliveredAt,
    }),
    price,
    totalAfter: tally.total + price,
    deliveredAt,
  };
  const kept = body.length > MOST_KEPT_BYTES ? null : answer;
  const call: StagedCall = { voucher, delivery, intent, status, answer: kept };
  if ("attest" in context.attestor && !(await store.stage(call))) return null;
  const receipt = await recorded(context, session, tally, call);
  return receipt === null ? null : responseOf(answer, receiptHeader(receipt));
};

/** Attests and records what a process staged that ended. This process has the reservation. */
const finishedStaged = async (context: SellerContext, session: KeptSession): Promise<void> => {
  const { store } = context;
  const { escrow } = session;
  try {
    const stored = await store.find(escrow);
    const staged = stored?.staged ?? null;
    if (stored === null || staged === null) await store.drop(escrow);
    else await recorded(context, session, tallyIn(stored), staged);
  } catch (cause) {
    await store.drop(escrow);
    throw cause;
  }
};

/** Ends what a process began that crashed between a delivery and its record, unless it lives or another one does it. */
const finished = async (
  context: SellerContext,
  session: KeptSession,
  count: number,
): Promise<void> => {
  const reservation = await context.store.reserve(session.escrow, count);
  if (reservation === "staged") await finishedStaged(context, session);
  else if (reservation === "reserved") await context.store.drop(session.escrow);
};

/** The final attestation of a session, signed with the present time. Only for one whose closing voucher is kept. */
export const attestedFinal = (
  context: Pick<SellerContext, "attestor" | "clock">,
  stored: StoredSession,
): Promise<CallAttestation> =>
  attested(context, stored.session, tallyIn(stored), nowIn(context, stored.session), true);

/** The final attestation of a session whose closing voucher is kept, as the answer to that voucher. */
const closedAnswer = async (context: SellerContext, stored: StoredSession): Promise<Response> => {
  const { session } = stored;
  const final = stored.final ?? (await attestedFinal(context, stored));
  if (stored.final === null) {
    await context.store.finish(session.escrow, final);
    context.onClosed(session.escrow);
  }
  const { deliveries, total, timestamp, count, signature } = final;
  const shown = {
    closed: true,
    deliveries,
    total_stroops: total.toString(),
    count,
    timestamp: Number(timestamp),
    attestation_signature: encodeBase64(signature),
  };
  return Response.json(shown, { headers: { "cache-control": PRIVATE } });
};

/** One try at a call; null when another process was quicker, and the call has to be judged anew. */
const tried = async (
  context: SellerContext,
  { session, refusal }: { readonly session: KeptSession; readonly refusal: Refusal | null },
  request: CallRequest,
  voucher: CallVoucher,
  handler: CallHandler,
): Promise<Response | null> => {
  const { store } = context;
  const before = await standing(context, session, request);
  const { staged } = before;
  if (staged !== null) await finished(context, before.session, staged.voucher.count);
  const stored = staged === null ? before : await standing(context, session, request);
  const { newest, closing } = stored;
  const intent = callIntent(request.method, request.url, request.body);
  if (intent === undefined && !voucher.isClosing)
    return refusalAnswer({ code: "invalid_request", detail: "No call is made of this request." });
  const order = voucher.isClosing ? null : callOrder(intent ?? "", voucher.nonce, voucher.limit);
  const judgement = judgeVoucher(
    session,
    tallyIn(stored),
    newest && { order: orderOf(newest), nonce: newest.voucher.nonce },
    voucher,
    order,
  );
  if ("fault" in judgement) return refusalAnswer(refusalOf(judgement.fault, newest));
  if (judgement.asks === "closing") {
    if (!(await store.close(voucher)))
      return refusalAnswer({ code: "session_busy", detail: "A call of the session is going on." });
    return closedAnswer(context, (await store.find(session.escrow)) ?? stored);
  }
  if (judgement.asks === "again") {
    const answer = await store.answer(session.escrow, voucher.count);
    if (answer !== null && newest !== null)
      return responseOf(answer, receiptHeader(newest.receipt));
    const detail = `Call ${voucher.count} was delivered, and its answer is not kept.`;
    return refusalAnswer({ code: "call_delivered", detail, head: newest });
  }
  if (closing !== null)
    return refusalAnswer({ code: "session_ended", detail: "The session is closed.", head: newest });
  if (refusal !== null) return refusalAnswer(refusal);
  if (stored.isRestored) {
    const detail = "This seller's store was restored, and may have lost calls of the session.";
    return refusalAnswer({ code: "session_restored", detail, head: newest });
  }
  if (order === null || intent === undefined) return null;
  if (voucher.limit < request.price) {
    const detail = `The call costs up to ${request.price} base units, its limit is ${voucher.limit}.`;
    return refusalAnswer({ code: "limit_below_price", detail });
  }
  const reservation = await store.reserve(session.escrow, voucher.count);
  if (reservation === "busy")
    return refusalAnswer({ code: "session_busy", detail: "A call of the session is going on." });
  if (reservation === "behind") return null;
  if (reservation === "staged") {
    await finishedStaged(context, session);
    return null;
  }
  try {
    return await delivered(context, stored, request, { voucher, order, intent }, handler);
  } catch (cause) {
    await store.drop(session.escrow);
    throw cause;
  }
};

/**
 * The answer to a request that carries a voucher; null for a request without one. Everything is judged before the
 * handler runs, and what it answers is recorded before it leaves. @throws what the handler and the store throw; then
 * nothing was charged.
 */
export const answerCall = async (
  context: SellerContext,
  request: CallRequest,
  handler: CallHandler,
): Promise<Response | null> => {
  const value = request.headers.get(VOUCHER_HEADER);
  if (value === null) return null;
  const voucher = parseVoucherHeader(value);
  if (voucher === undefined)
    return refusalAnswer({ code: "invalid_voucher", detail: "Settlement-Voucher is no voucher." });
  const taken = await context.view.session(voucher.escrow);
  const session =
    "session" in taken ? taken.session : (await context.store.find(voucher.escrow))?.session;
  const refusal = "refusal" in taken ? taken.refusal : null;
  if (session === undefined)
    return refusalAnswer(refusal ?? { code: "session_unknown", detail: "No session is known." });
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const answer = await tried(context, { session, refusal }, request, voucher, handler);
    if (answer !== null) return answer;
  }
  return refusalAnswer({ code: "session_busy", detail: "Other calls of the session are quicker." });
};
