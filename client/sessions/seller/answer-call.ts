import { decodeBase64, encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { callIntent, callOrder } from "../../../core/protocol/calls/call-order.ts";
import { receiptHeader } from "../../../core/protocol/calls/call-receipt.ts";
import {
  type CallVoucher,
  parseVoucherHeader,
  VOUCHER_HEADER,
} from "../../../core/protocol/calls/call-voucher.ts";
import { judgeVoucher } from "../../../core/protocol/calls/judge-call.ts";
import {
  HEAD_HEADER,
  orderOf,
  readSessionHead,
} from "../../../core/protocol/calls/session-head.ts";
import { tallyIn } from "../store/session-state.ts";
import type { KeptSession, StoredSession } from "../store/session-store.ts";
import { attestedFinal, finished, finishedStaged } from "./attest-calls.ts";
import { delivered } from "./deliver-call.ts";
import { cutStreamOf } from "./deliver-stream.ts";
import { PRIVATE, type Refusal, refusalAnswer, refusalOf } from "./refusal.ts";
import { restoredRefusal } from "./restored-store.ts";
import type { CallHandler, CallRequest, SellerContext } from "./seller-context.ts";
import { responseOf } from "./sent-answer.ts";

/** How often a call is judged anew when another process was quicker. */
const MOST_TRIES = 3;

/** How far a session is, by this store and by the newest record that the agent shows, by which it can be captured. */
const standing = async (
  { store }: SellerContext,
  session: KeptSession,
  request: CallRequest,
): Promise<StoredSession> => {
  await store.open(session);
  const opened = async (): Promise<StoredSession> => {
    const stored = await store.find(session.escrow);
    if (stored === null) throw new Error("a session that was opened is not there");
    return stored;
  };
  const stored = await opened();
  const shown = request.headers.get(HEAD_HEADER);
  if (shown === null) return stored;
  const head = readSessionHead(session, decodeBase64(shown) ?? new Uint8Array());
  if (head === undefined || head.voucher.count <= (stored.newest?.voucher.count ?? 0))
    return stored;
  await store.adopt(head);
  return opened();
};

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
    ends_by: total > 0n ? "release" : context.canCancel === true ? "cancel" : "agent",
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
  const staged = before.isRestored ? null : before.staged;
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
    if (stored.isRestored && stored.final === null) return refusalAnswer(restoredRefusal(stored));
    if (!(await store.close(voucher)))
      return refusalAnswer({ code: "session_busy", detail: "A call of the session is going on." });
    return closedAnswer(context, (await store.find(session.escrow)) ?? stored);
  }
  if (judgement.asks === "again") {
    const answer = await store.answer(session.escrow, voucher.count);
    if (answer !== null && newest !== null)
      return responseOf(
        { ...answer, body: new Uint8Array(answer.body) },
        receiptHeader(newest.receipt),
      );
    const detail = `Call ${voucher.count} was delivered, and its answer is not kept.`;
    return refusalAnswer({ code: "call_delivered", detail, head: newest });
  }
  if (closing !== null)
    return refusalAnswer({ code: "session_ended", detail: "The session is closed.", head: newest });
  if (refusal !== null) return refusalAnswer(refusal);
  if (stored.isRestored) return refusalAnswer(restoredRefusal(stored));
  if (order === null || intent === undefined) return null;
  if (voucher.limit < request.price) {
    const detail = `The call costs up to ${request.price} base units, its limit is ${voucher.limit}.`;
    return refusalAnswer({ code: "limit_below_price", detail });
  }
  const reservation = await store.reserve(session.escrow, voucher.count);
  if (reservation === "busy") {
    if (await cutStreamOf(store, voucher)) return null;
    return refusalAnswer({ code: "session_busy", detail: "A call of the session is going on." });
  }
  if (reservation === "behind") return null;
  if (reservation === "staged") {
    await finishedStaged(context, session);
    return null;
  }
  try {
    return await delivered({ context, stored, request, voucher, order, intent }, handler);
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
