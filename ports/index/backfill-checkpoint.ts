import { Context, type Effect } from "effect";

/** How far the search for the transactions of old events has come. */
export type BackfillCheckpoint = {
  /** `archive` goes from the oldest transaction to the newest, `history` from the newest to the oldest. */
  readonly way: "archive" | "history";
  /** Where it goes on: a provider's cursor, or a signature; null at the beginning. */
  readonly cursor: string | null;
  /** Whether it has reached the end. */
  readonly isDone: boolean;
};

/** Where a search begins: an archive is tried first. */
export const FIRST_CHECKPOINT: BackfillCheckpoint = { way: "archive", cursor: null, isDone: false };

/** Keeps one checkpoint of the ledger that the index is of. Losing it costs requests, never rows. */
export class BackfillCheckpoints extends Context.Service<
  BackfillCheckpoints,
  {
    /** Null without one. */
    readonly load: Effect.Effect<BackfillCheckpoint | null>;
    readonly save: (checkpoint: BackfillCheckpoint) => Effect.Effect<void>;
  }
>()("settlement-evidence/ports/BackfillCheckpoints") {}
