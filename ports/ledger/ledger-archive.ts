import { Context, type Effect } from "effect";
import type { Address } from "../../core/domain/address.ts";
import type { LedgerTransaction } from "../../core/domain/ledger/history.ts";
import type { LedgerFailure } from "./ledger.ts";

/** Some transactions of an address, oldest first, and the cursor of what follows; null at the end. */
export type ArchivePage = {
  readonly transactions: ReadonlyArray<LedgerTransaction>;
  readonly next: string | null;
};

/** Whole transactions of an address, many in one answer, where a provider offers that. */
export class LedgerArchive extends Context.Service<
  LedgerArchive,
  {
    /**
     * The finalized transactions that name an address and succeeded, oldest first, after a cursor of an earlier page or
     * from the beginning. Null where no node offers them.
     */
    readonly transactionsOf: (
      address: Address,
      cursor: string | null,
    ) => Effect.Effect<ArchivePage | null, LedgerFailure>;
  }
>()("settlement-evidence/ports/LedgerArchive") {}
