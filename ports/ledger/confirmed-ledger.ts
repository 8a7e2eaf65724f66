import { Context, type Effect } from "effect";
import type { Address } from "../../core/domain/address.ts";
import type { HistoryEntry, LedgerTransaction } from "../../core/domain/ledger/history.ts";
import type { LedgerSignature } from "../../core/domain/ledger/signature.ts";
import type { LedgerFailure } from "./ledger.ts";
import type { SignalSource } from "./ledger-signals.ts";

/**
 * Signals of changes that are confirmed: as `LedgerSignals`, some twelve seconds earlier. A fork may undo what they
 * tell of.
 */
export class ConfirmedSignals extends Context.Service<ConfirmedSignals, SignalSource>()(
  "settlement-evidence/ports/ConfirmedSignals",
) {}

/** What nodes show of confirmed transactions. A fork may undo them, and nothing here is proved. */
export class ConfirmedHistory extends Context.Service<
  ConfirmedHistory,
  {
    /** At most 1000 of the newest transactions that name an address. A node may list them late, and a fork's too. */
    readonly recent: (
      address: Address,
    ) => Effect.Effect<ReadonlyArray<HistoryEntry>, LedgerFailure>;
    /** A confirmed transaction, null when the answering node does not show it. */
    readonly transaction: (
      signature: LedgerSignature,
    ) => Effect.Effect<LedgerTransaction | null, LedgerFailure>;
  }
>()("settlement-evidence/ports/ConfirmedHistory") {}
