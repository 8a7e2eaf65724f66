import { Context, type Effect } from "effect";
import type { Address } from "../../core/domain/address.ts";
import type { LedgerFailure } from "./ledger.ts";

/** A recent block's hash, and how long a transaction that names it can land. */
export type RecentBlockhash = {
  /** 32 bytes as base58. */
  readonly blockhash: Address;
  /** The last block height at which such a transaction can land. */
  readonly lastValidBlockHeight: bigint;
  /** The slot of the answer. */
  readonly slot: bigint;
};

/** What a new transaction needs to know to get into a block. */
export class Blockspace extends Context.Service<
  Blockspace,
  {
    /** The newest confirmed blockhash. */
    readonly latestBlockhash: Effect.Effect<RecentBlockhash, LedgerFailure>;
    /**
     * The lowest prices, in micro-lamports for a compute unit, at which transactions that write an account landed
     * lately, one for each recent block, in any order; empty when the node has none.
     */
    readonly recentPrices: (
      account: Address,
    ) => Effect.Effect<ReadonlyArray<bigint>, LedgerFailure>;
  }
>()("settlement-evidence/ports/Blockspace") {}
