import { Context, Data, type Effect } from "effect";

/** A key could not be taken into use. Neither field ever holds key material. */
export class EvidenceKeyUnusable extends Data.TaggedError("EvidenceKeyUnusable")<{
  /** Where the key was looked for: a file, or a setting's name. */
  readonly source: string;
  readonly reason: string;
}> {
  override get message() {
    return `The evidence key of ${this.source} cannot be used: ${this.reason}.`;
  }
}

/** One Ed25519 key under which evidence is or was signed. */
export type EvidenceKey = {
  /** RFC 7638 thumbprint of the public key. */
  readonly keyId: string;
  /** 32 bytes */
  readonly publicKey: Uint8Array;
  readonly status: "current" | "retired" | "revoked";
  /** When the key stopped being current, milliseconds; null for the current key or when not known. */
  readonly endedAtMs: number | null;
};

/** Signs evidence packets; the private key never leaves the adapter. */
export class EvidenceSigner extends Context.Service<
  EvidenceSigner,
  {
    /** The key that signs now, null when none is configured: packets are then `unsigned`. */
    readonly current: EvidenceKey | null;
    /** Keys that signed earlier packets. */
    readonly former: ReadonlyArray<EvidenceKey>;
    /** The Ed25519 signature, 64 bytes, of a message under the current key; dies when there is none. */
    readonly sign: (message: Uint8Array) => Effect.Effect<Uint8Array>;
  }
>()("settlement-evidence/ports/EvidenceSigner") {}
