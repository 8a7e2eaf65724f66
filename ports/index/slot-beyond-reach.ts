import { Data } from "effect";

/**
 * A sync refuses the slot that a node claims: the ledger cannot have reached it ("ahead"), or it is far below the index's
 * mark ("behind"). Another node, or the same one later, may answer otherwise.
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
