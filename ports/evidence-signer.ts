import { Context, Data, type Effect } from "effect";

/** A key cannot be used. Neither field ever holds key material. */
export class EvidenceKeyUnusable extends Data.TaggedError("EvidenceKeyUnusable")<{
  /** The key's source: a file, or a setting's name. */
  readonly source: string;
  readonly reason: string;
}> {
  override get message() {
    return `The evidence key of ${this.source} cannot be used: ${this.reason}.`;
  }
}

/**
 * A key that is held outside of this process gave no signature of its own in time: nothing was signed. No field holds
 * key material, unless the holder printed it.
 */
export class KeyUnavailable extends Data.TaggedError("KeyUnavailable")<{
  /** Who holds the key, and its public key as base58. */
  readonly source: string;
  readonly reason: string;
  /** What the holder printed last on its standard error, null for nothing. For logs: it may differ each time. */
  readonly said: string | null;
}> {
  override get message() {
    return `The key of ${this.source} signs nothing: ${this.reason}`;
  }
}

/** An Ed25519 key that signs or has signed evidence. */
export type EvidenceKey = {
  /** RFC 7638 thumbprint of the public key. */
  readonly keyId: string;
  /** 32 bytes */
  readonly publicKey: Uint8Array;
  readonly status: "current" | "retired" | "revoked";
  /** When the key stopped being current, milliseconds; null for the current key, or when not known. */
  readonly endedAtMs: number | null;
};

/** Signs evidence packets; the private key never leaves the adapter. */
export class EvidenceSigner extends Context.Service<
  EvidenceSigner,
  {
    /** The current key, null when none is configured. Packets are then `unsigned`. */
    readonly current: EvidenceKey | null;
    /** The keys of earlier packets. */
    readonly former: ReadonlyArray<EvidenceKey>;
    /** The 64-byte Ed25519 signature of a message under the current key. Dies without a key. */
    readonly sign: (message: Uint8Array) => Effect.Effect<Uint8Array, KeyUnavailable>;
  }
>()("settlement-evidence/ports/EvidenceSigner") {}
