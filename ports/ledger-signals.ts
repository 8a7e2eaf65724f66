import { Context, type Stream } from "effect";

/** Signals of changes on the ledger. */
export class LedgerSignals extends Context.Service<
  LedgerSignals,
  {
    /**
     * An element whenever a sync may find something new. Several changes may share one. Only a hint: elements may be
     * lost or false, which costs only time. Never fails and never ends.
     */
    readonly changes: Stream.Stream<void>;
  }
>()("settlement-evidence/ports/LedgerSignals") {}
