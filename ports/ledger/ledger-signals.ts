import { Context, type Effect, type Stream } from "effect";
import type { Address } from "../../core/domain/address.ts";
import type { LedgerSignature } from "../../core/domain/ledger/signature.ts";

/** A transaction that a node has announced. The history may not list it yet. */
export type ToldTransaction = {
  readonly signature: LedgerSignature;
  readonly slot: bigint;
  /** The watched address that it names. */
  readonly names: Address;
};

/** A change on the ledger: the transaction that made it, null when only the change is known. */
export type LedgerSignal = ToldTransaction | null;

/** Whether a source of signals works. */
export type SignalStanding = {
  /** Whether a node has taken the subscription that is open now. */
  readonly isLive: boolean;
  /** Whether that node is connected and tells of nothing, although slots go on or the ledger has changed. */
  readonly isSilent: boolean;
  /** Connections in a row that were lost, or that no node took; 0 while one is live. */
  readonly failures: number;
};

/** A source of signals of changes on the ledger. */
export type SignalSource = {
  /**
   * An element whenever a sync may find something new. Failed transactions give none. Only a hint: elements may be lost
   * or false, which costs only time. Never fails and never ends.
   */
  readonly changes: Stream.Stream<LedgerSignal>;
  /** How the source stands while somebody reads `changes`. */
  readonly standing: Effect.Effect<SignalStanding>;
};

/** Signals of finalized changes on the ledger. */
export class LedgerSignals extends Context.Service<LedgerSignals, SignalSource>()(
  "settlement-evidence/ports/LedgerSignals",
) {}
