import { Context, type Effect } from "effect";
import type { StoreUnavailable } from "../index/store-unavailable.ts";

/** Which log the index's events belong to. */
export class LogIdentity extends Context.Service<
  LogIdentity,
  {
    /**
     * The first 16 hex digits of the SHA-256 of the log's leaf 0 (docs/log.md, "Leaf 0"). Fails as retryable until a
     * node has shown the ledger's genesis hash.
     */
    readonly id: Effect.Effect<string, StoreUnavailable>;
  }
>()("settlement-evidence/ports/LogIdentity") {}
