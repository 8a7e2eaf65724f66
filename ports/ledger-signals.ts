import { Context, type Stream } from "effect";

/** Tells that something happened on the ledger. */
export class LedgerSignals extends Context.Service<
  LedgerSignals,
  {
    /**
     * An element for each time when a sync may find something new; several can be one. Only a hint: any of
     * them can be lost, or be false, and then nothing but time is. Never fails and never ends.
     */
    readonly changes: Stream.Stream<void>;
  }
>()("settlement-evidence/ports/LedgerSignals") {}
