import { addressFromBytes } from "../../core/domain/address.ts";
import { hash32FromBytes } from "../../core/domain/hash32.ts";
import type {
  KeptCall,
  KeptSession,
  SentAnswer,
  StagedCall,
} from "../../client/sessions/store/session-store.ts";
import { attest, headAfter, honestCalls, KEPT, vouch } from "./session-sides.ts";

const sessionOf = (byte: number): KeptSession => {
  const bytes = new Uint8Array(32).fill(byte);
  return { ...KEPT, escrow: addressFromBytes(bytes), terms: hash32FromBytes(bytes) };
};

/** Sessions that differ in escrow and terms. */
export const SESSIONS: ReadonlyArray<KeptSession> = [KEPT, sessionOf(61), sessionOf(62)];

/** What each of these calls may cost and costs. */
export const PLAN = [
  { limit: 15n, price: 10n },
  { limit: 300n, price: 0n },
  { limit: 0n, price: 0n },
  { limit: 70_000n, price: 69_999n },
  { limit: 5n, price: 5n },
  { limit: 900n, price: 1n },
];

/** The same six calls of each session, as honest sides make them. */
export const CALLS = SESSIONS.map((session) => honestCalls(PLAN, session));

const made = (at: number, count: number) => {
  const call = CALLS[at]?.[count - 1];
  if (call === undefined) throw new RangeError(`no call ${count} of session ${at}`);
  return call;
};

/** A call of a session as its seller keeps it. */
export const keptCall = (count: number, at = 0): KeptCall => {
  const { voucher, receipt, intent } = made(at, count);
  return { voucher, receipt, intent, status: count % 2 === 0 ? 204 : 200 };
};

/** A call of a session as it is before its attestation. */
export const stagedCall = (count: number, at = 0): StagedCall => {
  const { voucher, receipt, intent, status } = keptCall(count, at);
  const answer = count % 3 === 0 ? null : answerOf(count);
  return { voucher, delivery: receipt.delivery, intent, status, answer };
};

/** The record of a call. */
export const headOf = (count: number, at = 0) => headAfter(made(at, count));

/** What a call was answered with; a longer body than its successor's, so that nothing of it may stay behind. */
export const answerOf = (count: number): SentAnswer => ({
  status: 200,
  headers: [
    ["content-type", "text/plain; charset=utf-8"],
    ["x-each", `€ ${count}`],
  ],
  body: new Uint8Array(4000 - 600 * count).fill(count),
});

/** The closing voucher after a number of calls. */
export const closingOf = (count: number, at = 0) => {
  const { after } = made(at, count);
  const session = SESSIONS[at] ?? KEPT;
  return vouch(
    {
      orders: after.orders,
      total: after.total,
      count,
      isClosing: true,
      limit: 0n,
      nonce: new Uint8Array(16),
    },
    session,
  );
};

/** The final attestation after a number of calls, made some seconds later. */
export const finalOf = (count: number, seconds: bigint, at = 0) => {
  const { after } = made(at, count);
  return attest(
    {
      deliveries: after.deliveries,
      total: after.total,
      timestamp: 1_772_367_000n + seconds,
      count,
      isFinal: true,
    },
    SESSIONS[at],
  );
};
