import { Context, type Stream } from "effect";
import type { Address } from "../../core/domain/address.ts";
import type { LedgerSignature } from "../../core/domain/ledger/signature.ts";

/** A finalized transaction that a node has announced. The history may not list it yet. */
export type ToldTransaction = {
  readonly signature: LedgerSignature;
  readonly slot: bigint;
  /** The watched address that it names. */
  readonly names: Address;
};

/** A change on the ledger: the transaction that made it, null when only the change is known. */
export type LedgerSignal = ToldTransaction | null;

/** Signals of changes on the ledger. */
export class LedgerSignals extends Context.Service<
  LedgerSignals,
  {
    /**
     * An element whenever a sync may find something new. Failed transactions give none. Only a hint: elements may be
     * lost or false, which costs only time. Never fails and never ends.
     */
    readonly changes: Stream.Stream<LedgerSignal>;
  }
>()("settlement-evidence/ports/LedgerSignals") {}
