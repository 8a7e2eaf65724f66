import { Context, type Effect } from "effect";
import type { LedgerSignature } from "../core/domain/ledger/signature.ts";
import type { RelayEntry, FinalOutcome } from "../core/domain/relay/relay-entry.ts";
import type { StoreUnavailable } from "./escrow-index.ts";

/** One use of an Idempotency-Key. Keys of different clients have nothing to do with each other. */
export type KeyUse = {
  readonly client: string;
  readonly key: string;
  /** Names the request it came with; two requests that differ have different ones. */
  readonly fingerprint: string;
  /** The service's clock, milliseconds. */
  readonly nowMs: number;
  /** A use before this has been given up by whoever made it, and its key may be taken over. */
  readonly staleBeforeMs: number;
  /** A use before this is forgotten. */
  readonly forgottenBeforeMs: number;
};

/** What a key is worth: the caller's own now, or taken before. */
export type KeyClaim =
  | { readonly status: "claimed" }
  | { readonly status: "in_flight" }
  | { readonly status: "answered"; readonly answer: string }
  /** It came with another request. */
  | { readonly status: "reused" };

/**
 * What the relay has taken on and what became of it, durable: what a method has acknowledged is there
 * after a crash of the process or of the machine.
 */
export class OutcomeLog extends Context.Service<
  OutcomeLog,
  {
    /** Records a transaction before it is first sent; false when its signature is recorded already. */
    readonly open: (entry: RelayEntry) => Effect.Effect<boolean, StoreUnavailable>;
    /** Records an outcome, once and for ever: a second one changes nothing. */
    readonly resolve: (
      signature: LedgerSignature,
      outcome: FinalOutcome,
    ) => Effect.Effect<void, StoreUnavailable>;
    readonly find: (
      signature: LedgerSignature,
    ) => Effect.Effect<RelayEntry | null, StoreUnavailable>;
    /** At most `limit` entries without an outcome, oldest first. */
    readonly unresolved: (
      limit: number,
    ) => Effect.Effect<ReadonlyArray<RelayEntry>, StoreUnavailable>;
    /** Takes a key for a request, or says how it was used before; decided in one step. */
    readonly claimKey: (use: KeyUse) => Effect.Effect<KeyClaim, StoreUnavailable>;
    /** Keeps the answer of a claimed key for its repetitions; null gives the key free instead. */
    readonly answerKey: (
      use: Pick<KeyUse, "client" | "key">,
      answer: string | null,
    ) => Effect.Effect<void, StoreUnavailable>;
  }
>()("settlement-evidence/ports/OutcomeLog") {}
