import { Context, Data, Effect } from "effect";
import type { KeyUnavailable } from "../evidence-signer.ts";
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

/** A key that signs. The private key never leaves the adapter, or whoever holds it for this process. */
export type SigningKey = {
  /** 32 bytes */
  readonly publicKey: Uint8Array;
  /** The 64-byte Ed25519 signature of a message. */
  readonly sign: (message: Uint8Array) => Effect.Effect<Uint8Array, KeyUnavailable>;
};

/** The key of the settlement log, what it signed last, and what its operator wants of it. */
export type LogKey = {
  /**
   * The key, and while keys are rotated the next one behind it: one or two. Read anew each time, because an operator may
   * begin and end a rotation while the process runs.
   */
  readonly keys: Effect.Effect<readonly [SigningKey, ...ReadonlyArray<SigningKey>], LogKeyUnusable>;
  /** The origin of the log that its operator wants ended; null for none. Read anew each time. */
  readonly endOrdered: Effect.Effect<string | null, LogKeyUnusable>;
  /** Where the text of `remember` is kept, as messages name it. */
  readonly memory: string;
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

/** The public keys, 32 bytes each, of what `LogSigner` holds: none without a log. */
export const publicKeysOf = (
  signer: { readonly key: LogKey } | null,
): Effect.Effect<ReadonlyArray<Uint8Array>, LogKeyUnusable> =>
  signer === null
    ? Effect.succeed([])
    : Effect.map(signer.key.keys, (keys) => keys.map(({ publicKey }) => publicKey));

/** The public keys of the log that this service signs, 32 bytes each, read anew each time; none without one. */
export const OwnLogKeys = Context.Reference<Effect.Effect<ReadonlyArray<Uint8Array>>>(
  "settlement-evidence/ports/OwnLogKeys",
  { defaultValue: () => Effect.succeed([]) },
);

/** The log's name and key; null without one: then no log is published. */
export class LogSigner extends Context.Service<
  LogSigner,
  { readonly name: string; readonly key: LogKey } | null
>()("settlement-evidence/ports/LogSigner") {}
