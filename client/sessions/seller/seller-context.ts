import type { Address } from "../../../core/domain/address.ts";
import type { ClientClock } from "../../service/requests.ts";
import type { MessageSigner } from "../../signing/sign-transaction.ts";
import type { KeptSession, SentAnswer, SessionStore } from "../store/session-store.ts";
import type { Refusal } from "./refusal.ts";
import type { SessionAttestor } from "./session-attestor.ts";

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
  /** Whether the seller has the merchant's wallet, which can cancel a session of which nothing was used. */
  readonly canCancel?: boolean;
  /** Told of each session that the agent closed, once its final attestation is kept. */
  readonly onClosed: (escrow: Address) => void;
  /** Told of each call that was recorded, with what all calls of its session cost so far, base units. */
  readonly onCall?: (session: KeptSession, total: bigint) => void;
  /** Told of a stream that broke because the store or the attestor failed, when its answer has begun. */
  readonly onBroken?: (escrow: Address, cause: unknown) => void;
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
  /**
   * Charges less than the price, in base units. The last one counts, for a stream that is cut the last one before. @throws
   * RangeError for more than the price.
   */
  readonly charge: (units: bigint) => void;
};

/** An answer whose body leaves the seller bit by bit, and is charged as far as it left. */
export type StreamedAnswer = Omit<SentAnswer, "body"> & {
  readonly stream: ReadableStream<Uint8Array>;
};

/**
 * Answers one call. What it throws, a redirect, and an answer of 400 or above are not charged. The body has no content
 * coding: it is attested as it is.
 */
export type CallHandler = (call: PaidCall) => Promise<SentAnswer | StreamedAnswer>;
