import { type SessionHead, tallyOf } from "../../../core/protocol/calls/session-head.ts";
import { NO_CALLS, type SessionTally } from "../../../core/protocol/calls/session-tally.ts";
import type { CallVoucher } from "../../../core/protocol/calls/call-voucher.ts";
import type { CallAttestation } from "../../../core/protocol/calls/call-receipt.ts";
import { SettlementError } from "../../settlement-error.ts";
import type { KeptCall, KeptSession, SentAnswer, StoredSession } from "./session-store.ts";

/** All that a store knows of a session beside its calls and its reservation. It never changes. */
export type SessionState = Omit<StoredSession, "isRestored"> & {
  /** The newest call's, null when there is none. */
  readonly answer: SentAnswer | null;
  readonly isEnded: boolean;
};

/** A session before its first call. */
export const newSession = (session: KeptSession): SessionState => ({
  session,
  newest: null,
  closing: null,
  final: null,
  staged: null,
  answer: null,
  isEnded: false,
});

/** How many calls a session had by its newest record. */
export const countOf = ({ newest }: Pick<SessionState, "newest">): number =>
  newest?.voucher.count ?? 0;

/** Where a session stands by its newest record. */
export const tallyIn = ({ newest }: Pick<SessionState, "newest">): SessionTally =>
  newest === null ? NO_CALLS : tallyOf(newest);

/** Whether the call of this number is the next one. */
export const isNext = (state: SessionState, count: number): boolean =>
  state.closing === null && countOf(state) === count - 1;

/** The session with its next call. */
export const withCall = (
  state: SessionState,
  { voucher, receipt }: KeptCall,
  answer: SentAnswer | null,
): SessionState => ({
  ...state,
  newest: { voucher, receipt, before: tallyIn(state) },
  staged: null,
  answer,
});

/** Whether a session may go on from a record that the agent showed. */
export const isLater = (state: SessionState, { voucher }: SessionHead): boolean =>
  state.closing === null && countOf(state) < voucher.count;

/** The session with a record that the agent showed. */
export const withShown = (state: SessionState, newest: SessionHead): SessionState => ({
  ...state,
  newest,
  staged: null,
  answer: null,
});

/** What becomes of a closing voucher: it was kept `before`, it closes the session `now`, or it is refused. */
export const closes = (
  state: SessionState,
  { count }: CallVoucher,
): "before" | "now" | "refused" => {
  if (state.closing !== null) return state.closing.count === count ? "before" : "refused";
  return countOf(state) === count && state.staged === null ? "now" : "refused";
};

/** Whether a final attestation is newer than the one that is kept. */
export const isNewer = ({ final }: SessionState, { timestamp }: CallAttestation): boolean =>
  final === null || final.timestamp < timestamp;

/** The failure of a call for a session that was never opened. */
export const sessionUnknown = (escrow: string): SettlementError =>
  new SettlementError(
    "session_unknown",
    `No session of ${escrow} is kept here.`,
    "Open it before its first call.",
  );
