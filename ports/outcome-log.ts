import { Context, type Effect } from "effect";
import type { LedgerSignature } from "../core/domain/ledger/signature.ts";
import type { RelayEntry, FinalOutcome } from "../core/domain/relay/relay-entry.ts";
import type { StoreUnavailable } from "./index/store-refusal.ts";

/** One use of an Idempotency-Key. Keys of different clients are separate. */
export type KeyUse = {
  readonly client: string;
  readonly key: string;
  /** Identifies the request; different requests have different fingerprints. */
  readonly fingerprint: string;
  /** The service's clock, milliseconds. */
  readonly nowMs: number;
  /** Uses before this time are forgotten. */
  readonly forgottenBeforeMs: number;
};

/** The result of a claim: the key is the caller's, or was used before. */
export type KeyClaim =
  | { readonly status: "claimed" }
  | { readonly status: "in_flight" }
  | { readonly status: "answered"; readonly answer: string }
  /** The key was used with another request. */
  | { readonly status: "reused" };

/**
 * The transactions that the relay has taken on, and their outcomes. Durable: acknowledged writes survive a crash of the
 * process or of the machine.
 */
export class OutcomeLog extends Context.Service<
  OutcomeLog,
  {
    /** Records a transaction before its first sending. False when its signature is recorded already. */
    readonly open: (entry: RelayEntry) => Effect.Effect<boolean, StoreUnavailable>;
    /**
     * Fails where `open` would, and keeps nothing: the entry is written where `open` writes it, and struck out in the
     * same step.
     */
    readonly tryOpen: (entry: RelayEntry) => Effect.Effect<void, StoreUnavailable>;
    /** Records an outcome for good. A second outcome changes nothing. */
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
    /**
     * Claims a key for a request, or returns how it was used before, in one step. A claim ends with the instance that
     * made it: the same request may then take the key over, and another one may not.
     */
    readonly claimKey: (use: KeyUse) => Effect.Effect<KeyClaim, StoreUnavailable>;
    /** Keeps the answer of a claimed key for repetitions; null releases the key. */
    readonly answerKey: (
      use: Pick<KeyUse, "client" | "key">,
      answer: string | null,
    ) => Effect.Effect<void, StoreUnavailable>;
  }
>()("settlement-evidence/ports/OutcomeLog") {}
