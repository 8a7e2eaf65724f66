import { Context, type Effect } from "effect";
import type { StoreUnavailable } from "../index/store-unavailable.ts";

/** Which log the index's events belong to. Each member fails as retryable until a node has shown the ledger's genesis hash. */
export class LogIdentity extends Context.Service<
  LogIdentity,
  {
    /** Leaf 0 of every log of this ledger and these programs (docs/log.md, "Leaf 0"). */
    readonly networkLeaf: Effect.Effect<Uint8Array, StoreUnavailable>;
    /** The first 16 hex digits of the SHA-256 of leaf 0. */
    readonly id: Effect.Effect<string, StoreUnavailable>;
  }
>()("settlement-evidence/ports/LogIdentity") {}
