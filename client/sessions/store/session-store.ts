import type { CallDelivery } from "../../../core/protocol/calls/call-delivery.ts";
import type { Address } from "../../../core/domain/address.ts";
import type { UnixSeconds } from "../../../core/domain/unix-time.ts";
import type { CallAttestation } from "../../../core/protocol/calls/call-receipt.ts";
import type { CallVoucher } from "../../../core/protocol/calls/call-voucher.ts";
import type { CallRecord, SessionHead } from "../../../core/protocol/calls/session-head.ts";
import type { SessionTerms } from "../../../core/protocol/calls/session-terms.ts";

/** What a seller keeps of a session once. */
export type KeptSession = SessionTerms & {
  /** The genesis hash of the ledger, base58. */
  readonly network: string;
  readonly mint: Address;
  readonly createdAt: UnixSeconds;
  readonly expiresAt: UnixSeconds;
};

/** An answer as it was sent, so that it can be given again. */
export type SentAnswer = {
  readonly status: number;
  /** In lower case. */
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>;
  readonly body: Uint8Array;
};

/** One call as a seller keeps it. */
export type KeptCall = CallRecord & {
  /** What was ordered, in words: `callIntent`. */
  readonly intent: string;
  /** The HTTP status that was answered. */
  readonly status: number;
};

/**
 * A delivery that is made and not yet attested, as a seller keeps it before it asks an attestor in another process, or
 * before more of a stream leaves it: after a crash in between, the same is attested, and never a second one of its number.
 */
export type StagedCall = {
  readonly voucher: CallVoucher;
  readonly delivery: CallDelivery;
  readonly intent: string;
  readonly status: number;
  readonly answer: SentAnswer | null;
};

/** Where a session stands in a store. */
export type StoredSession = {
  readonly session: KeptSession;
  /** The newest call, null before the first. */
  readonly newest: SessionHead | null;
  /** The agent's closing voucher, after which no call is taken; null while the session goes on. */
  readonly closing: CallVoucher | null;
  /** The newest final attestation, null before the closing. */
  readonly final: CallAttestation | null;
  /**
   * Whether the store may have lost calls of it: it is a restored copy, or was made after the session. A further call
   * could then be a second one of the same number, and a final attestation could be below what was signed, so that
   * nothing is signed for it any more. What the newest record, or one that the agent shows, has signed is captured.
   */
  readonly isRestored: boolean;
  /** A delivery of the next call that was kept before it was attested; null without one. */
  readonly staged: StagedCall | null;
};

/**
 * What became of a wish to answer a call. `staged`: it is reserved, and a process that ended left its delivery staged,
 * which has to be attested and appended as it is. `behind`: the call is not the next one any more.
 */
export type Reservation = "reserved" | "staged" | "busy" | "behind";

/**
 * Where a store begins that does not know it yet: every session is older. A new store is so, and a copy of another one,
 * until it is told the ledger's time. The largest number that every database and `Number` hold.
 */
export const NOT_BEGUN: UnixSeconds = 9_007_199_254_740_991n;

/**
 * Where a seller keeps its sessions. Processes that share a store never deliver twice for one voucher: a call is
 * reserved before its delivery and recorded by compare-and-append. What a write resolved for survives the end of the
 * process and of the machine. Writes reject when that cannot be said.
 */
export type SessionStore = {
  /**
   * Has a store that is new, or found to be a copy, begin at the ledger's finalized time, which it asks for only then:
   * calls of what was created before that second may be missing. Whatever is finalized later cannot have been called
   * before, since sellers take finalized sessions only. A store that has begun stays as it is.
   */
  readonly begin: (finalizedTime: () => Promise<UnixSeconds>) => Promise<void>;
  /** Keeps a session before its first call. The same again changes nothing. */
  readonly open: (session: KeptSession) => Promise<void>;
  /** Where a session stands; null for one that was never opened here. */
  readonly find: (escrow: Address) => Promise<StoredSession | null>;
  /** The sessions that are not ended, oldest first. */
  readonly unfinished: () => Promise<ReadonlyArray<KeptSession>>;
  /**
   * Reserves the delivery of the call of this number for this process. `busy` while a living process holds one for the
   * session, `behind` unless the newest call is the one before, or once the session is closing. The reservation of a
   * process that has ended is free.
   */
  readonly reserve: (escrow: Address, count: number) => Promise<Reservation>;
  /** Ends this process's reservation without a call. What is staged stays. */
  readonly drop: (escrow: Address) => Promise<void>;
  /**
   * Keeps a delivery before it is attested, in place of one that was kept before; the call's `append` ends that. False
   * unless this process holds the reservation of its number. Sellers need it whose attestor is another process, and
   * those whose answers are streams.
   */
  readonly stage: (call: StagedCall) => Promise<boolean>;
  /**
   * Appends a call, with the answer that was made for it, and ends the reservation. False when the newest call is not
   * the one before any more, or the session is closing: then nothing is kept, and the answer must not leave the seller.
   */
  readonly append: (call: KeptCall, answer: SentAnswer | null) => Promise<boolean>;
  /** The answer of the newest call; null when it was too large to be kept, or is another call's. */
  readonly answer: (escrow: Address, count: number) => Promise<SentAnswer | null>;
  /**
   * Goes on from the newest record that the agent showed, which the caller has verified. False unless it is of a later
   * call than the newest here, and nothing is reserved.
   */
  readonly adopt: (head: SessionHead) => Promise<boolean>;
  /**
   * Keeps the closing voucher. False unless the newest call is its last one, no living process holds a reservation, and
   * nothing is staged. The same again is true.
   */
  readonly close: (voucher: CallVoucher) => Promise<boolean>;
  /** Keeps a final attestation; the newest stays. */
  readonly finish: (escrow: Address, final: CallAttestation) => Promise<void>;
  /**
   * Takes every session that was created before this second of the ledger for one of which calls may be lost, for good:
   * one of them was proved to be behind. An earlier second than before changes nothing.
   */
  readonly distrust: (before: UnixSeconds) => Promise<void>;
  /** A session that is settled on the ledger: it is not among the unfinished any more. */
  readonly end: (escrow: Address) => Promise<void>;
  /**
   * The calls of a session from a number on, in order. Calls that this store never held, because it went on from a
   * record that the agent showed, are missing.
   */
  readonly calls: (escrow: Address, from: number) => AsyncIterable<KeptCall>;
};
