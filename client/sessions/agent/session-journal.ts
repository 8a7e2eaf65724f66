import type { CallOrder } from "../../../core/protocol/calls/call-order.ts";
import type { CallVoucher } from "../../../core/protocol/calls/call-voucher.ts";
import { type SessionHead, tallyOf } from "../../../core/protocol/calls/session-head.ts";
import type { KeptCall } from "../store/session-store.ts";

/** A call that was sent and for which no receipt is kept. */
export type PendingCall = {
  readonly voucher: CallVoucher;
  readonly order: CallOrder;
  readonly intent: string;
};

/** Why a session is over for its agent: what the seller signed, in base64, that it must not have. */
export type StoppedSession = {
  readonly code: string;
  readonly detail: string;
  /** The header of the receipt that was refused, null where there was none. */
  readonly receipt: string | null;
};

/**
 * What a session was opened with, kept before anything is signed. All of it is JSON. Whoever reads the seed can spend
 * the session's budget with its merchant.
 */
export type SessionOpening = {
  /** Of the protocol. */
  readonly version: 3;
  /** The genesis hash of the ledger, base58. */
  readonly network: string;
  readonly agent: string;
  readonly merchant: string;
  readonly mint: string;
  /** Base units, decimal. */
  readonly budget: string;
  /** The escrow's task and nonce. With the agent they give its address, so that it is never opened twice. */
  readonly task: string;
  readonly nonce: string;
  /** Seconds from the opening on. */
  readonly ttl: number;
  /** The key that must attest; null for the merchant's present one. */
  readonly attestor: string | null;
  /** The only origin that is called, such as `https://api.example.com`; any where it is left out. */
  readonly origin?: string;
  /** The 32 bytes of the session key, base64. */
  readonly seed: string;
  /** The bytes of the escrow's account, base64, once it was found finalized; null before. */
  readonly account: string | null;
  /** What the agent's own transactions cost, lamports, decimal. */
  readonly fees: string;
};

/** Where an agent's session stands. */
export type AgentState = {
  /** Null before the session is opened. */
  readonly opening: SessionOpening | null;
  /** The newest call that was answered, null before the first. */
  readonly head: SessionHead | null;
  readonly pending: PendingCall | null;
  /** Null while the session goes on. */
  readonly closing: CallVoucher | null;
  /** Null unless the seller broke the rules. */
  readonly stopped: StoppedSession | null;
  /**
   * Whether a call was paid for whose answer is not here: it or the journal was lost. A seller that never delivers shows
   * the same, so that no further call is signed.
   */
  readonly isAnswerLost: boolean;
};

/** The state of a session before its first call. */
export const NOTHING_CALLED: AgentState = {
  opening: null,
  head: null,
  pending: null,
  closing: null,
  stopped: null,
  isAnswerLost: false,
};

/** What changes when a session goes on from the seller's newest record. */
export const adopting = (
  { head: before, isAnswerLost }: AgentState,
  head: SessionHead,
): Pick<AgentState, "head" | "pending" | "closing" | "isAnswerLost"> => {
  const paid = before === null ? 0n : tallyOf(before).total;
  const isPaidFor = head.receipt.delivery.totalAfter > paid;
  return { head, pending: null, closing: null, isAnswerLost: isAnswerLost || isPaidFor };
};

/**
 * Where an agent keeps one session. It belongs to one process. `order` may survive the end of the process only; what
 * the others resolved for survives the end of the machine, or the session goes on from the seller's record.
 */
export type SessionJournal = {
  readonly state: () => Promise<AgentState>;
  /** Keeps the opening, or what became known of it, in place of the one before. */
  readonly open: (opening: SessionOpening) => Promise<void>;
  /** Keeps a call before it is sent, in place of one that was not answered. */
  readonly order: (pending: PendingCall) => Promise<void>;
  /** Keeps an answered call, by which the session goes on. */
  readonly record: (call: KeptCall) => Promise<void>;
  /** Goes on from the seller's newest record, which the caller has verified. A closing of fewer calls is void. */
  readonly adopt: (head: SessionHead) => Promise<void>;
  /** Keeps the closing voucher before it is sent. */
  readonly close: (voucher: CallVoucher) => Promise<void>;
  /** Ends the session for its agent. */
  readonly stop: (reason: StoppedSession) => Promise<void>;
  /** The calls from a number on, in order. Calls that were taken over from the seller's record are missing. */
  readonly calls: (from: number) => AsyncIterable<KeptCall>;
  /** Gives the session to other processes. Nothing is kept by this journal afterwards. */
  readonly release: () => Promise<void>;
};

/** Where an agent keeps several sessions, each under a name, such as a folder of files. */
export type SessionFolder = {
  /** The names of the sessions, sorted. @throws SettlementError `unreadable` */
  readonly names: () => Promise<ReadonlyArray<string>>;
  /**
   * Takes the session of a name for this process; a name that is not there yet is one without an opening. @throws
   * SettlementError `store_in_use`, `store_damaged`, `store_unusable`
   */
  readonly take: (name: string) => Promise<SessionJournal>;
};
