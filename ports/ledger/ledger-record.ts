import { Context, Effect } from "effect";

/**
 * Whether the nodes show the same ledger as the stores. `unknown`: no genesis hash is known yet. `recorded`: a store
 * has recorded one, and no node has answered since the start. `confirmed`: a node has shown the same hash.
 * `contradicted`: the nodes that answer show another one.
 */
export const LEDGER_STANDINGS = ["unknown", "recorded", "confirmed", "contradicted"] as const;
/** One of `LEDGER_STANDINGS`. */
export type LedgerStanding = (typeof LEDGER_STANDINGS)[number];

/** The ledger of this process. A node that shows another genesis hash is not used. */
export const LedgerRecord = Context.Reference<{
  /**
   * Uses the genesis hash that a store has recorded, unless a node has already shown one. Returns the hash in use.
   */
  readonly adopt: (genesisHash: string) => Effect.Effect<string>;
  /** The genesis hash in use, base58, null before one is known, and whether the nodes show it. Makes no request. */
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

/** Whether the stores may be out of date, because no node shows their ledger. */
export const isLedgerStale = Effect.flatMap(LedgerRecord, ({ state }) =>
  Effect.map(state, ({ standing }) => standing !== "confirmed"),
);
