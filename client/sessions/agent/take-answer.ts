import { decodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { isUnixTime } from "../../../core/domain/unix-time.ts";
import { callProofHash } from "../../../core/protocol/calls/call-delivery.ts";
import { callIntent } from "../../../core/protocol/calls/call-order.ts";
import {
  type CallReceipt,
  parseReceiptHeader,
  RECEIPT_HEADER,
} from "../../../core/protocol/calls/call-receipt.ts";
import { VOUCHER_HEADER, voucherHeader } from "../../../core/protocol/calls/call-voucher.ts";
import { receiptFault } from "../../../core/protocol/calls/judge-call.ts";
import {
  readSessionHead,
  type SessionHead,
  tallyOf,
} from "../../../core/protocol/calls/session-head.ts";
import { SettlementError } from "../../settlement-error.ts";
import type { AgentState, PendingCall, SessionJournal } from "./session-journal.ts";
import {
  type AgentContext,
  type SessionRequest,
  tallyAt,
  failed,
  type Sent,
  send,
} from "./send-call.ts";

/** An answer, and what it cost. */
export type CallAnswer = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
  /** Which call of the session it was; null for an answer of 400 or above, which costs nothing. */
  readonly count: number | null;
  /** Base units. */
  readonly price: bigint;
};

/** Ends the session for its agent, and keeps what the seller signed. */
const stop = async (
  { journal }: AgentContext,
  code: string,
  detail: string,
  receipt: string | null,
): Promise<never> => {
  await journal.stop({ code, detail, receipt });
  throw failed(
    code,
    detail,
    "The session has stopped, and at stake is this one call's limit. Close it on the ledger; both signatures are kept.",
  );
};

/** Takes the receipt of an answer, or stops the session. */
export const received = async (
  context: AgentContext,
  state: AgentState,
  { voucher, order, intent }: PendingCall,
  request: Pick<SessionRequest, "url">,
  { status, headers, body }: Sent,
): Promise<CallAnswer> => {
  const value = headers.get(RECEIPT_HEADER) ?? "";
  const receipt: CallReceipt | undefined = parseReceiptHeader(value);
  if (receipt === undefined)
    return stop(context, "receipt_not_signed", "The receipt has no form.", value);
  const { deliveredAt } = receipt.delivery;
  const payloadHash = isUnixTime(deliveredAt)
    ? callProofHash({
        taskHash: order.taskHash,
        network: context.network,
        url: request.url.replace(/#.*$/s, ""),
        status,
        body,
        deliveredAt,
      })
    : null;
  const fault = receiptFault(context.session, tallyAt(state), order, receipt, payloadHash);
  if (fault !== undefined) return stop(context, fault.code, fault.detail, value);
  await context.journal.record({ voucher, receipt, intent, status });
  return { status, headers, body, count: voucher.count, price: receipt.delivery.price };
};

/** A call that was sent, as it can be sent once more. */
type SentCall = { readonly pending: PendingCall; readonly request: SessionRequest };

/** The most calls of one count that are remembered. */
const MOST_REMEMBERED = 16;
/** The calls that each session sent at its present count. Their bodies are in no journal. */
const sentCalls = new WeakMap<SessionJournal, Array<SentCall>>();

/** Remembers a call that is sent, so that its answer can be asked for once more. */
export const remember = ({ journal }: AgentContext, sent: SentCall): void => {
  const { count } = sent.pending.voucher;
  const before = (sentCalls.get(journal) ?? []).filter(
    ({ pending }) =>
      pending.voucher.count === count && pending.order.taskHash !== sent.pending.order.taskHash,
  );
  sentCalls.set(journal, [...before, sent].slice(-MOST_REMEMBERED));
};

const notGiven = (cause?: unknown): SettlementError =>
  failed(
    "call_unanswered",
    "The seller does not give the answer of a call that it delivered.",
    "Make the call again: nothing is paid twice.",
    cause,
  );

/** Asks once more for the answer of a call that was given up. False where the seller does not keep it. */
const recalled = async (
  context: AgentContext,
  state: AgentState,
  { voucher, receipt }: SessionHead,
): Promise<boolean> => {
  const sent = (sentCalls.get(context.journal) ?? []).find(
    ({ pending }) =>
      pending.voucher.count === voucher.count &&
      pending.order.taskHash === receipt.delivery.taskHash,
  );
  if (sent === undefined) return false;
  const { signal: _, sink: __, ...request } = sent.request;
  const carried = { [VOUCHER_HEADER]: voucherHeader(sent.pending.voucher) };
  const answer = await send(context, request, carried).catch((cause: unknown) => {
    throw cause instanceof SettlementError ? cause : notGiven(cause);
  });
  if (!answer.headers.has(RECEIPT_HEADER)) {
    if (answer.problem?.code === "call_delivered") return false;
    throw notGiven();
  }
  await received(context, state, sent.pending, request, answer);
  return true;
};

/**
 * Goes on from the seller's newest record. It is proved by the agent's own signature and the attestor's; a record of a
 * call that the agent has another receipt for, or that follows another history, is a lie of the attestor. The answer of
 * a call that was given up is asked for once more; the session makes no further call when it is lost. `asked` is the task
 * hash of the call that was just asked for, null for none.
 */
export const adopt = async (
  context: AgentContext,
  state: AgentState,
  value: string,
  asked: string | null,
): Promise<void> => {
  const head = readSessionHead(context.session, decodeBase64(value) ?? new Uint8Array());
  if (head === undefined)
    throw failed(
      "invalid_record",
      "The seller's newest record is not signed as it must be.",
      "Nothing was paid for it. Close the session on the ledger.",
    );
  const mine = tallyAt(state);
  const { count } = head.voucher;
  const { taskHash } = head.receipt.delivery;
  const theirs = count === mine.count ? tallyOf(head) : head.before;
  if (theirs.count === mine.count && theirs.deliveries !== mine.deliveries)
    await stop(context, "equivocation", "The attestor signed two histories of one count.", value);
  if (count <= mine.count) return;
  if (taskHash !== asked && (await recalled(context, state, head))) return;
  await context.journal.adopt(head);
};

/** Remembers a call without a body that an ended process left behind. */
export const rememberRead = (context: AgentContext, pending: PendingCall | null): void => {
  if (pending === null) return;
  const url = pending.intent.split(" ")[1] ?? "";
  const isSent = (sentCalls.get(context.journal) ?? []).some(
    (sent) => sent.pending.order.taskHash === pending.order.taskHash,
  );
  if (!isSent && callIntent("GET", url, new Uint8Array()) === pending.intent)
    remember(context, { pending, request: { url, limit: pending.voucher.limit } });
};
