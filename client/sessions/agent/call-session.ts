import { randomBytes } from "@noble/hashes/utils.js";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import {
  CALL_NONCE_BYTES,
  callIntent,
  callOrder,
} from "../../../core/protocol/calls/call-order.ts";
import { RECEIPT_HEADER } from "../../../core/protocol/calls/call-receipt.ts";
import {
  vouchedMessage,
  VOUCHER_HEADER,
  voucherHeader,
} from "../../../core/protocol/calls/call-voucher.ts";
import {
  HEAD_HEADER,
  orderOf,
  sessionHeadBytes,
} from "../../../core/protocol/calls/session-head.ts";
import { SettlementError } from "../../settlement-error.ts";
import type { AgentState, PendingCall } from "./session-journal.ts";
import {
  type AgentContext,
  type SessionRequest,
  MOST_SENDS,
  FIRST_PAUSE_MS,
  tallyAt,
  failed,
  type SellerProblem,
  send,
} from "./send-call.ts";
import { type CallAnswer, received, remember, adopt, rememberRead } from "./take-answer.ts";

/** The voucher and the order of the next call. */
const ordered = async (
  { session, signer }: AgentContext,
  state: AgentState,
  intent: string,
  limit: bigint,
): Promise<PendingCall> => {
  const tally = tallyAt(state);
  const nonce = randomBytes(CALL_NONCE_BYTES);
  const order = callOrder(intent, nonce, limit);
  const claim = {
    orders: tally.ordersWith(order),
    total: tally.total + limit,
    count: tally.count + 1,
    isClosing: false,
  };
  if (claim.total > session.amount)
    throw failed(
      "budget_exceeded",
      `${tally.total} of ${session.amount} base units are spent, and the call may cost ${limit}.`,
      "Close this session and open another one.",
    );
  // The seller verifies it, and refuses a wrong one before it delivers anything.
  const signature = await signer.sign(vouchedMessage(session, claim));
  return { voucher: { ...claim, escrow: session.escrow, limit, nonce, signature }, order, intent };
};

/** What to do after an answer that is no delivery. */
type Next = "again" | "anew";

/** Codes after which the same call is sent again, a little later. */
const PASSING: ReadonlySet<string> = new Set([
  "session_busy",
  "ledger_out_of_reach",
  "attestor_unusable",
  "store_unusable",
]);

const refused = async (
  context: AgentContext,
  state: AgentState,
  pending: PendingCall,
  { code, detail }: SellerProblem,
  headers: Headers,
): Promise<Next> => {
  if (PASSING.has(code)) return "again";
  const shown = headers.get(HEAD_HEADER);
  if ((code === "agent_is_behind" || code === "call_delivered") && shown !== null) {
    await adopt(context, state, shown, pending.order.taskHash);
    const { head } = await context.journal.state();
    const isPending =
      head !== null &&
      head.voucher.count === pending.voucher.count &&
      orderOf(head).taskHash === pending.order.taskHash;
    if (isPending)
      throw failed(
        "answer_lost",
        `Call ${head.voucher.count} was delivered, and the seller keeps its answer no more.`,
        "Its receipt is kept. If it was paid for, the session makes no further call: close it, and order anew.",
      );
    return "anew";
  }
  throw failed(code, `The seller refuses the call: ${detail}`, "Mend what it names.");
};

const isPassingStatus = (status: number): boolean => [429, 502, 503, 504].includes(status);

/** Sends a call until an answer to it decides. @throws SettlementError `call_unanswered` when none does. */
const settledCall = async (
  context: AgentContext,
  state: AgentState,
  pending: PendingCall,
  request: SessionRequest,
): Promise<CallAnswer | "anew"> => {
  const carried: Record<string, string> = { [VOUCHER_HEADER]: voucherHeader(pending.voucher) };
  let last: unknown = null;
  for (let sends = 0; sends < MOST_SENDS; sends++) {
    if (sends > 0) await context.clock.pause(FIRST_PAUSE_MS * 2 ** (sends - 1), request.signal);
    const sent = await send(context, request, carried).catch((cause: unknown) => {
      request.signal?.throwIfAborted();
      // Nothing of a stream was given to the caller yet, so the rest of it may come from the seller's record.
      const isCut = cause instanceof SettlementError && cause.code === "stream_cut";
      if (cause instanceof SettlementError && !(isCut && request.sink === undefined)) throw cause;
      last = cause;
      return null;
    });
    if (sent === null) continue;
    if (sent.headers.has(RECEIPT_HEADER)) return received(context, state, pending, request, sent);
    if (sent.problem?.code === "seller_is_behind" && state.head !== null) {
      carried[HEAD_HEADER] = encodeBase64(sessionHeadBytes(state.head));
    } else if (sent.problem !== null && sent.status !== 500) {
      const next = await refused(context, state, pending, sent.problem, sent.headers);
      if (next === "anew") return next;
    } else if (!isPassingStatus(sent.status)) {
      const { status, headers, body } = sent;
      return { status, headers, body, count: null, price: 0n };
    }
  }
  throw failed(
    "call_unanswered",
    `${new URL(request.url).host} gave no answer that decides.`,
    "Make the same call again: it is not paid twice.",
    last ?? undefined,
  );
};

const open = (state: AgentState): AgentState => {
  if (state.stopped !== null)
    throw failed(
      "session_stopped",
      `The session has stopped: ${state.stopped.detail}`,
      "Close it on the ledger, and open another one with a seller that you trust.",
    );
  if (state.closing !== null)
    throw failed("session_closed", "The session is closed.", "Open another one.");
  if (state.isAnswerLost)
    throw failed(
      "answer_lost_before",
      "A call of this session was paid for, and its answer is lost.",
      "Close the session and open another one.",
    );
  return state;
};

/** A URL as a runtime sends it; empty for one that no call is made of. A password would stand in the evidence. */
const sentUrl = (url: string): string => {
  if (!URL.canParse(url)) return "";
  const { username, password, href } = new URL(url);
  return username === "" && password === "" ? href : "";
};

/** How often a call is ordered anew because the seller's record was ahead. */
const MOST_ORDERS = 3;

/**
 * Makes one call of a session and takes its receipt. The same request after a failure is the same call, so that it is
 * not paid twice. One call at a time. @throws SettlementError
 */
export const callOnce = async (
  context: AgentContext,
  given: SessionRequest,
): Promise<CallAnswer> => {
  const request = { ...given, url: sentUrl(given.url) };
  const intent = callIntent(request.method ?? "GET", request.url, request.body ?? new Uint8Array());
  if (intent === undefined)
    throw failed(
      "invalid_request",
      "No call is made of this method and URL.",
      "Give an absolute http or https URL in printable ASCII.",
    );
  for (let orders = 0; orders < MOST_ORDERS; orders++) {
    const state = open(await context.journal.state());
    const waiting = state.pending;
    const isSame = waiting?.intent === intent && waiting.voucher.limit === request.limit;
    const pending =
      waiting !== null && isSame ? waiting : await ordered(context, state, intent, request.limit);
    if (pending !== waiting) {
      rememberRead(context, waiting);
      await context.journal.order(pending);
    }
    remember(context, { pending, request });
    const answer = await settledCall(context, state, pending, request);
    if (answer !== "anew") return answer;
  }
  throw failed(
    "call_unanswered",
    "The seller's record is always ahead.",
    "Another process uses this session, or the seller lies: close the session on the ledger.",
  );
};
