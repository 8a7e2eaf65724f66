import { Context, Data, type Effect } from "effect";
import type { VerifierKey } from "../core/log/notes/verifier-key.ts";

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
    /** Name and public key, with use `cosignature`. */
    readonly key: VerifierKey;
    /** The Ed25519 signature of a message, 64 bytes. */
    readonly sign: (message: Uint8Array) => Effect.Effect<Uint8Array>;
  }
>()("settlement-evidence/ports/WitnessKey") {}
