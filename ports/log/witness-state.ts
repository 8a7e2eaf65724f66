import { Context, Data, type Effect } from "effect";
import type { KeyUnavailable } from "../evidence-signer.ts";
import type { Address } from "../../core/domain/address.ts";

/** The state cannot be read or written, or what is kept is damaged. */
export class WitnessStateUnavailable extends Data.TaggedError("WitnessStateUnavailable")<{
  readonly cause: unknown;
}> {}

/** The checkpoint of a log that the witness cosigned last. */
export type CosignedLog = {
  /** Leaves of the tree, at least 1. */
  readonly size: number;
  /** 32 bytes */
  readonly root: Uint8Array;
  /** There when the checkpoint is the last one of a log that its operator ended. */
  readonly isLast?: true;
};

/** The custody config account as the witness's node showed it, finalized: it holds the ledger's root. */
export type ShownConfig = {
  readonly slot: bigint;
  /** The program that owns it. */
  readonly owner: Address;
  readonly data: Uint8Array;
};

/** A checkpoint that the log signed and the witness did not cosign. */
export type RefusedCheckpoint = {
  /** Why, as a sentence without a newline. */
  readonly reason: string;
  /** The signed note, verbatim. */
  readonly checkpoint: string;
  /** What the node showed at this size, or else last; absent where it showed nothing. */
  readonly config?: ShownConfig;
};

/** What a witness remembers of the logs that it watches, by their origins. */
export class WitnessState extends Context.Service<
  WitnessState,
  {
    /** What was cosigned last, null before the first time. */
    readonly read: (origin: string) => Effect.Effect<CosignedLog | null, WitnessStateUnavailable>;
    /**
     * Keeps `next` if the size kept is `expectedSize`, 0 for none, and says whether it did. It is durable before the
     * answer.
     */
    readonly compareAndSet: (
      origin: string,
      expectedSize: number,
      next: CosignedLog,
    ) => Effect.Effect<boolean, WitnessStateUnavailable>;
    /** Keeps a refused checkpoint once. Of more than `MAX_REFUSED` of its log, the first and the newest are kept. */
    readonly keepRefused: (
      origin: string,
      refused: RefusedCheckpoint,
    ) => Effect.Effect<void, WitnessStateUnavailable>;
    /** The refused checkpoints of a log that are kept, oldest first. */
    readonly refused: (
      origin: string,
    ) => Effect.Effect<ReadonlyArray<RefusedCheckpoint>, WitnessStateUnavailable>;
  }
>()("settlement-evidence/ports/WitnessState") {}

/** The most refused checkpoints that are kept of one log: the first and the newest ones. */
export const MAX_REFUSED = 32;

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
    readonly sign: (message: Uint8Array) => Effect.Effect<Uint8Array, KeyUnavailable>;
  }
>()("settlement-evidence/ports/WitnessKey") {}
