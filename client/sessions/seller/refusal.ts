import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import {
  HEAD_HEADER,
  type SessionHead,
  sessionHeadBytes,
} from "../../../core/protocol/calls/session-head.ts";
import type { CallFault, CallFaultCode } from "../../../core/protocol/calls/judge-call.ts";

/** Why a seller takes no call, beside what is wrong with its voucher. The list only grows. */
export type RefusalCode =
  | CallFaultCode
  | "invalid_voucher"
  | "invalid_request"
  | "body_too_long"
  | "limit_below_price"
  | "session_unknown"
  | "session_ended"
  | "session_restored"
  | "session_busy"
  | "attestor_revoked"
  | "merchant_suspended"
  | "ledger_out_of_reach"
  | "attestor_unusable"
  | "store_unusable";

/** A call that is not taken. Nothing was delivered and nothing is charged, unless the code says otherwise. */
export type Refusal = {
  readonly code: RefusalCode;
  readonly detail: string;
  /** The newest record, where it helps the agent to go on. */
  readonly head?: SessionHead | null;
};

/** The HTTP status of each code, and what the agent does about it. */
const ANSWERS: Readonly<Record<RefusalCode, readonly [status: number, cure: string]>> = {
  invalid_voucher: [400, "Send the 176 bytes of docs/protocol.md, Calls of a session, in base64."],
  body_too_long: [413, "Send a shorter body."],
  invalid_request: [400, "Ask by a method in capitals and an absolute URL in printable ASCII."],
  limit_below_price: [402, "Sign a voucher with at least the price of the offer as its limit."],
  session_unknown: [402, "Open a session with this merchant, and wait until it is finalized."],
  session_ended: [402, "Open another session."],
  budget_exceeded: [402, "Close this session and open another one."],
  attestor_revoked: [402, "Close this session: nothing that its attestor signs is paid any more."],
  merchant_suspended: [402, "Close this session: its merchant answers no calls now."],
  session_busy: [409, "Wait for the answer of the call before, or open another session."],
  call_delivered: [409, "Go on from the record in Settlement-Head."],
  agent_is_behind: [409, "Go on from the record in Settlement-Head."],
  seller_is_behind: [409, "Send the same call again, with the newest record in Settlement-Head."],
  another_total: [422, "Sign what the calls before cost, and this call's limit."],
  another_order: [422, "Make the order of the very request that is sent."],
  voucher_not_signed: [422, "Sign with the session key that the escrow names."],
  voucher_of_another_session: [422, "Send the voucher of the session that it names."],
  price_above_limit: [
    500,
    "The seller's handler asked for more than the limit; nothing is charged.",
  ],
  receipt_not_signed: [500, "The seller's attestor failed; nothing is charged."],
  receipt_of_another_call: [500, "The seller failed; nothing is charged."],
  another_payload: [500, "The seller failed; nothing is charged."],
  ledger_out_of_reach: [503, "Send the same call again."],
  attestor_unusable: [503, "Send the same call again."],
  session_restored: [
    503,
    "Close this session on the ledger with the agent's wallet (`close_session`), and open another one.",
  ],
  store_unusable: [503, "Send the same call again."],
};

/** A paid answer is nobody else's, and not to be changed on its way: its bytes are attested. */
export const PRIVATE = "private, no-store, no-transform";

/** The newest record as the value of its header. */
const headValue = (head: SessionHead): string => encodeBase64(sessionHeadBytes(head));

/** A refusal as an HTTP answer: a problem document (RFC 9457) with a stable `code`. */
export const refusalAnswer = ({ code, detail, head }: Refusal): Response => {
  const [status, cure] = ANSWERS[code];
  return new Response(JSON.stringify({ type: "about:blank", status, code, detail, cure }), {
    status,
    headers: {
      "content-type": "application/problem+json",
      "cache-control": PRIVATE,
      ...(head === undefined || head === null ? {} : { [HEAD_HEADER]: headValue(head) }),
      ...(status === 503 && code !== "session_restored" ? { "retry-after": "1" } : {}),
    },
  });
};

/** A fault of a voucher as a refusal, with the newest record where the agent can go on by it. */
export const refusalOf = ({ code, detail }: CallFault, head: SessionHead | null): Refusal =>
  code === "call_delivered" || code === "agent_is_behind"
    ? { code, detail, head }
    : { code, detail };
