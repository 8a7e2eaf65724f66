import { Context, Effect } from "effect";

/**
 * How the nodes stand to the ledger of the stores. `unknown`: no genesis hash is known. `recorded`: the one that a store
 * recorded counts, and no node has answered since the start. `confirmed`: a node has shown it. `contradicted`: the nodes
 * that answer show another.
 */
export const LEDGER_STANDINGS = ["unknown", "recorded", "confirmed", "contradicted"] as const;
/** One of `LEDGER_STANDINGS`. */
export type LedgerStanding = (typeof LEDGER_STANDINGS)[number];

/** Which ledger counts in this process. Nodes of another one are never asked for anything else. */
export const LedgerRecord = Context.Reference<{
  /**
   * Takes the genesis hash that a store has recorded for the ledger's, unless a node has shown one before. Returns the
   * one that counts.
   */
  readonly adopt: (genesisHash: string) => Effect.Effect<string>;
  /** The genesis hash that counts, base58, null before any is known; and how the nodes stand to it. Asks no node. */
  readonly state: Effect.Effect<{
    readonly genesisHash: string | null;
    readonly standing: LedgerStanding;
  }>;
}>("settlement-evidence/ports/LedgerRecord", {
  // A ledger without nodes, which only tests have, cannot be contradicted.
  defaultValue: () => ({
    adopt: Effect.succeed,
    state: Effect.succeed({ genesisHash: null, standing: "confirmed" }),
  }),
});

/** Whether what the stores hold may be out of date because no node has shown their ledger: neither since the start, nor now. */
export const isLedgerStale = Effect.flatMap(LedgerRecord, ({ state }) =>
  Effect.map(state, ({ standing }) => standing !== "confirmed"),
);
