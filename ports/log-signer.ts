import { Context, Data, type Effect } from "effect";

/** What stands beside the log's key cannot be read or written. */
export class LogKeyUnavailable extends Data.TaggedError("LogKeyUnavailable")<{
  /** The file. */
  readonly source: string;
  readonly reason: string;
}> {
  override get message() {
    return `What the log's key signed last cannot be read or written at ${this.source}: ${this.reason}.`;
  }
}

/** The key of the settlement log, and what it signed last. The private key never leaves the adapter. */
export type LogKey = {
  /** 32 bytes */
  readonly publicKey: Uint8Array;
  /** The 64-byte Ed25519 signature of a message. */
  readonly sign: (message: Uint8Array) => Effect.Effect<Uint8Array>;
  /** The text that `remember` wrote last, null before. It is kept beside the key, not in the store: an older store that is restored does not take it back. */
  readonly remembered: Effect.Effect<string | null, LogKeyUnavailable>;
  /** Replaces the text durably. */
  readonly remember: (text: string) => Effect.Effect<void, LogKeyUnavailable>;
};

/** The log's name and key; null without one: then no log is published. */
export class LogSigner extends Context.Service<
  LogSigner,
  { readonly name: string; readonly key: LogKey } | null
>()("settlement-evidence/ports/LogSigner") {}
