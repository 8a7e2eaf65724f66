import { Context, Data, type Effect } from "effect";
import type { StoreUnavailable } from "../index/store-refusal.ts";

/**
 * Which log the index's events belong to. Each member fails as retryable until a node has shown the ledger's genesis
 * hash.
 */
export class LogIdentity extends Context.Service<
  LogIdentity,
  {
    /** Leaf 0 of every log of this ledger and these programs (docs/log.md, "Leaf 0"). */
    readonly networkLeaf: Effect.Effect<Uint8Array, StoreUnavailable>;
    /** The first 16 hex digits of the SHA-256 of leaf 0. */
    readonly id: Effect.Effect<string, StoreUnavailable>;
  }
>()("settlement-evidence/ports/LogIdentity") {}

/** The log's key, or the file beside it, cannot be used. Neither field ever holds key material. */
export class LogKeyUnusable extends Data.TaggedError("LogKeyUnusable")<{
  /** A file, or a setting's name. */
  readonly source: string;
  readonly reason: string;
}> {
  override get message() {
    return `The log key of ${this.source} cannot be used: ${this.reason}.`;
  }
}

/** The key of the settlement log, and what it signed last. The private key never leaves the adapter. */
export type LogKey = {
  /** 32 bytes */
  readonly publicKey: Uint8Array;
  /** Where the text of `remember` is kept, as messages name it. */
  readonly memory: string;
  /** The 64-byte Ed25519 signature of a message. */
  readonly sign: (message: Uint8Array) => Effect.Effect<Uint8Array>;
  /**
   * The text that `remember` wrote last, null before. It is kept beside the key, not in the store: an older store that
   * is restored does not take it back.
   */
  readonly remembered: Effect.Effect<string | null, LogKeyUnusable>;
  /**
   * Replaces the text `before` durably; false, with nothing changed, when another one stands. Processes with the same
   * key come one after the other.
   */
  readonly remember: (
    before: string | null,
    next: string,
  ) => Effect.Effect<boolean, LogKeyUnusable>;
};

/** The public key of the log that this service signs, 32 bytes; null without one. */
export const OwnLogKey = Context.Reference<Uint8Array | null>(
  "settlement-evidence/ports/OwnLogKey",
  { defaultValue: () => null },
);

/** The log's name and key; null without one: then no log is published. */
export class LogSigner extends Context.Service<
  LogSigner,
  { readonly name: string; readonly key: LogKey } | null
>()("settlement-evidence/ports/LogSigner") {}
