import { Context, Data, type Effect } from "effect";

/** The witness cannot be set up. Neither field holds key material. */
export class WitnessUnusable extends Data.TaggedError("WitnessUnusable")<{
  /** A file, or a setting's name. */
  readonly source: string;
  readonly reason: string;
}> {
  override get message() {
    return `The witness cannot be set up from ${this.source}: ${this.reason}.`;
  }
}

/** Signs cosignatures; the private key never leaves the adapter. */
export class WitnessKey extends Context.Service<
  WitnessKey,
  {
    /** The witness's name: a URL without scheme, such as `witness.example.com`. */
    readonly name: string;
    /** 32 bytes */
    readonly publicKey: Uint8Array;
    /** The Ed25519 signature of a message, 64 bytes. */
    readonly sign: (message: Uint8Array) => Effect.Effect<Uint8Array>;
  }
>()("settlement-evidence/ports/WitnessKey") {}
