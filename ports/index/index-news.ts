import { Context, Data, type Effect } from "effect";
import type { RebuildApproval } from "../../core/domain/index/sync-report.ts";

/** Hints that another process has completed a sync of a shared index. Hints are not queued. */
export class IndexNews extends Context.Service<
  IndexNews,
  {
    /** Completes at the next hint from now on. A hint may never come. */
    readonly next: Effect.Effect<void>;
    /** Gives a hint to every process that reads the index. Hints may be lost. */
    readonly tell: Effect.Effect<void>;
    /** How long a reader waits for a hint before it looks by itself, milliseconds. */
    readonly lookEveryMs: Effect.Effect<number>;
  }
>()("settlement-evidence/ports/IndexNews") {}

/**
 * A sync refuses the slot that a node claims: the ledger cannot have reached it ("ahead"), or it is far below the
 * index's mark ("behind"). Another node, or the same one later, may answer otherwise.
 */
export class SlotBeyondReach extends Data.TaggedError("SlotBeyondReach")<{
  readonly side: "ahead" | "behind";
  /** The JSON-RPC method whose answer names the slot. */
  readonly method: string;
  /** What is refused, with the slot and its limit where they are known: a clause without a full stop. */
  readonly detail: string;
}> {
  /** What the operator can do about it: one sentence. */
  get cure(): string {
    return this.side === "ahead"
      ? "Compare the node's slot with another node's, and the clock of the service's machine with the time: use another node in SOLANA_RPC_URL, or set the clock."
      : "Wait until the node has caught up, or use another node in SOLANA_RPC_URL.";
  }

  override get message(): string {
    return `${this.method}: slot_beyond_reach: ${this.detail}. ${this.cure}`;
  }
}

/** What the operator has approved last, null for nothing. What cannot be read approves nothing. */
export class RebuildApprovals extends Context.Service<
  RebuildApprovals,
  Effect.Effect<RebuildApproval | null>
>()("settlement-evidence/ports/RebuildApprovals") {}
