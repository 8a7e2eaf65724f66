import { randomBytes } from "@noble/hashes/utils.js";
import { decodeBase64, encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { foreignText } from "../../../core/domain/encoding/foreign-text.ts";
import { callProofHash } from "../../../core/protocol/calls/call-delivery.ts";
import {
  CALL_NONCE_BYTES,
  callIntent,
  callOrder,
} from "../../../core/protocol/calls/call-order.ts";
import {
  type CallReceipt,
  parseReceiptHeader,
  RECEIPT_HEADER,
} from "../../../core/protocol/calls/call-receipt.ts";
import {
  type CallVoucher,
  vouchedMessage,
  VOUCHER_HEADER,
  voucherHeader,
} from "../../../core/protocol/calls/call-voucher.ts";
import { isAttestationSigned, receiptFault } from "../../../core/protocol/calls/judge-call.ts";
import {
  HEAD_HEADER,
  orderOf,
  readSessionHead,
  type SessionHead,
  sessionHeadBytes,
  tallyOf,
} from "../../../core/protocol/calls/session-head.ts";
import { NO_CALLS, type SessionTally } from "../../../core/protocol/calls/session-tally.ts";
import type { SessionTerms } from "../../../core/protocol/calls/session-terms.ts";
import { boundedBytes, type Fetch, fetchDirectly } from "../../service/fetch-directly.ts";
import type { ClientClock } from "../../service/requests.ts";
import { SettlementError } from "../../settlement-error.ts";
import { type MessageSigner, signatureBy } from "../../signing/sign-transaction.ts";
import type { AgentState, PendingCall, SessionJournal } from "./session-journal.ts";

/** What an agent's calls need. */
export type AgentContext = {
  readonly session: SessionTerms;
  /** The genesis hash of the ledger, base58. */
  readonly network: string;
  /** The session key. */
  readonly signer: MessageSigner;
  readonly journal: SessionJournal;
  readonly fetch: Fetch;
  readonly clock: ClientClock;
};

/** A request to a seller. */
export type SessionRequest = {
  /** `GET` when left out. */
  readonly method?: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** The most that it may cost, base units. */
  readonly limit: bigint;
  readonly signal?: AbortSignal;
};

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

/** How often a call is sent before its agent hears that there is no answer. */
const MOST_SENDS = 6;
const FIRST_PAUSE_MS = 200;
/** The longest answer, bytes. */
const MOST_BODY_BYTES = 67_108_864;

const tallyAt = ({ head }: AgentState): SessionTally => (head === null ? NO_CALLS : tallyOf(head));

const failed = (code: string, detail: string, cure: string, cause?: unknown): SettlementError =>
  new SettlementError(code, detail, cure, cause === undefined ? {} : { cause });

/** What a seller's refusal says. */
type SellerProblem = { readonly code: string; readonly detail: string };

const problemIn = (headers: Headers, body: Uint8Array): SellerProblem | null => {
  if (!/^application\/problem\+json\b/i.test(headers.get("content-type") ?? "")) return null;
  try {
    const { code, detail } = JSON.parse(new TextDecoder().decode(body)) as Partial<SellerProblem>;
    return typeof code === "string" && typeof detail === "string"
      ? { code, detail: foreignText(detail) }
      : null;
  } catch {
    return null;
  }
};

type Sent = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
  readonly problem: SellerProblem | null;
};

/** Sends a request with a voucher, once. A redirect is refused: the voucher is for this seller. */
const send = async (
  { fetch }: AgentContext,
  { method = "GET", url, headers = {}, body, signal }: Omit<SessionRequest, "limit">,
  carried: Readonly<Record<string, string>>,
): Promise<Sent> => {
  const all = new Headers(headers);
  for (const name of [VOUCHER_HEADER, HEAD_HEADER]) all.delete(name);
  // What is attested is the body as it was sent, which a runtime hides once it undoes a coding.
  all.set("accept-encoding", "identity");
  for (const [name, value] of Object.entries(carried)) all.set(name, value);
  const response = await fetchDirectly(
    url,
    {
      method,
      headers: Object.fromEntries(all),
      ...(body === undefined ? {} : { body: new Uint8Array(body) }),
      ...(signal === undefined ? {} : { signal }),
    },
    fetch,
  );
  const bytes = await boundedBytes(response, MOST_BODY_BYTES);
  const { status, headers: given } = response;
  return { status, headers: given, body: bytes, problem: problemIn(given, bytes) };
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
  const signature = await signatureBy(signer, vouchedMessage(session, claim));
  return { voucher: { ...claim, escrow: session.escrow, limit, nonce, signature }, order, intent };
};

/** Takes the receipt of an answer, or stops the session. */
const received = async (
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
  const fault = receiptFault(
    context.session,
    tallyAt(state),
    order,
    receipt,
    callProofHash({
      taskHash: order.taskHash,
      network: context.network,
      url: request.url.replace(/#.*$/s, ""),
      status,
      body,
      deliveredAt: receipt.delivery.deliveredAt,
    }),
  );
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

const remember = ({ journal }: AgentContext, sent: SentCall): void => {
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
  const { signal: _, ...request } = sent.request;
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

/** Whether the journal lacks an answered call: its answer is lost, or the journal itself was. */
const isOneMissing = async ({ journal }: AgentContext, count: number): Promise<boolean> => {
  let kept = 0;
  for await (const _ of journal.calls(1)) kept += 1;
  return kept < count;
};

/**
 * Goes on from the seller's newest record. It is proved by the agent's own signature and the attestor's; a record of a
 * call that the agent has another receipt for, or that follows another history, is a lie of the attestor. The answer of
 * a call that was given up is asked for once more. One may be lost; the session stops at the second, since a seller
 * that never delivers says the same. `asked` is the task hash of the call that was just asked for, null for none.
 */
const adopt = async (
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
  const { taskHash, price } = head.receipt.delivery;
  const theirs = count === mine.count ? tallyOf(head) : head.before;
  if (theirs.count === mine.count && theirs.deliveries !== mine.deliveries)
    await stop(context, "equivocation", "The attestor signed two histories of one count.", value);
  if (count <= mine.count) return;
  if (taskHash !== asked && (await recalled(context, state, head))) return;
  if (price > 0n && (await isOneMissing(context, mine.count)))
    await stop(context, "answers_lost", "The seller charges for a second lost answer.", value);
  await context.journal.adopt(head);
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
        `Call ${head.voucher.count} was delivered and paid, and the seller keeps its answer no more.`,
        "Its receipt is kept. Order it anew if you need the answer.",
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
      if (cause instanceof SettlementError) throw cause;
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
  return state;
};

/** A URL as a runtime sends it; empty for one that no call is made of. A password would stand in the evidence. */
const sentUrl = (url: string): string => {
  if (!URL.canParse(url)) return "";
  const { username, password, href } = new URL(url);
  return username === "" && password === "" ? href : "";
};

/** Remembers a call without a body that an ended process left behind. */
const rememberRead = (context: AgentContext, pending: PendingCall | null): void => {
  if (pending === null) return;
  const url = pending.intent.split(" ")[1] ?? "";
  const isSent = (sentCalls.get(context.journal) ?? []).some(
    (sent) => sent.pending.order.taskHash === pending.order.taskHash,
  );
  if (!isSent && callIntent("GET", url, new Uint8Array()) === pending.intent)
    remember(context, { pending, request: { url, limit: pending.voucher.limit } });
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

/** What a seller signed at the end. */
type Final = {
  readonly deliveries: string;
  readonly total_stroops: string;
  readonly count: number;
  readonly timestamp: number;
  readonly attestation_signature: string;
};

const isFinal = ({ session }: AgentContext, tally: SessionTally, body: Uint8Array): boolean => {
  try {
    const final = JSON.parse(new TextDecoder().decode(body)) as Final;
    const signature = decodeBase64(final.attestation_signature);
    const { deliveries, total, count } = tally;
    return (
      signature !== undefined &&
      isAttestationSigned(session, {
        deliveries,
        total,
        count,
        timestamp: BigInt(final.timestamp),
        isFinal: true,
        signature,
      })
    );
  } catch {
    return false;
  }
};

const closingVoucher = async (
  { session, signer }: AgentContext,
  { orders, total, count }: SessionTally,
): Promise<CallVoucher> => {
  const claim = { orders, total, count, isClosing: true };
  const signature = await signatureBy(signer, vouchedMessage(session, claim));
  const nonce = new Uint8Array(CALL_NONCE_BYTES);
  return { ...claim, escrow: session.escrow, limit: 0n, nonce, signature };
};

/**
 * Closes a session with its seller at a URL that it sells: no call is taken afterwards, and the seller has signed what
 * the whole session costs. The same again gives the same. @throws SettlementError; then the agent's wallet can close
 * the session on the ledger.
 */
export const closeWithSeller = async (
  context: AgentContext,
  url: string,
  signal?: AbortSignal,
): Promise<SessionTally> => {
  let last = "it gave no answer";
  for (let sends = 0; sends < MOST_SENDS; sends++) {
    if (sends > 0) await context.clock.pause(FIRST_PAUSE_MS * 2 ** (sends - 1), signal);
    const state = await context.journal.state();
    const tally = tallyAt(state);
    // One of fewer calls is void: the answer of another has come since.
    const kept = state.closing?.count === tally.count ? state.closing : null;
    const voucher = kept ?? (await closingVoucher(context, tally));
    if (kept === null) await context.journal.close(voucher);
    const head: Readonly<Record<string, string>> =
      state.head === null ? {} : { [HEAD_HEADER]: encodeBase64(sessionHeadBytes(state.head)) };
    const request = signal === undefined ? { url } : { url, signal };
    const carried = { ...head, [VOUCHER_HEADER]: voucherHeader(voucher) };
    const sent = await send(context, request, carried).catch((cause: unknown) => {
      signal?.throwIfAborted();
      if (cause instanceof SettlementError) throw cause;
      return null;
    });
    if (sent === null) continue;
    if (sent.status === 200 && isFinal(context, tally, sent.body)) return tally;
    const shown = sent.headers.get(HEAD_HEADER);
    if (sent.problem?.code === "agent_is_behind" && shown !== null)
      await adopt(context, state, shown, null);
    last = sent.problem?.detail ?? `it answered ${sent.status} without a final attestation`;
  }
  throw failed(
    "seller_closes_not",
    `The seller did not close the session: ${last}`,
    "Close it on the ledger with the agent's wallet.",
  );
};
