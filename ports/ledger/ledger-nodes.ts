import { Context, type Effect } from "effect";
import type { Address } from "../../core/domain/address.ts";
import type { LedgerAccount } from "../../core/domain/ledger/account.ts";
import type { AtSlot } from "./ledger.ts";

/** The configured nodes of the ledger, one by one. */
export class LedgerNodes extends Context.Service<
  LedgerNodes,
  {
    /** How many nodes are configured, at least 1. */
    readonly count: number;
    /** A finalized account as each node shows it, in the order of the configuration; null for a node without a usable answer. */
    readonly readFromEach: (
      address: Address,
    ) => Effect.Effect<ReadonlyArray<AtSlot<LedgerAccount | null> | null>>;
  }
>()("settlement-evidence/ports/LedgerNodes") {}
