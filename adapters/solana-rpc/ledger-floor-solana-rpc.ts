import { Effect, Layer } from "effect";
import { LedgerFloor } from "../../ports/ledger/ledger-floor.ts";
import { NodePool } from "./pool/node-pool.ts";

/** The LedgerFloor port over the pool of nodes. A slot that the ledger cannot have reached is not believed. */
export const ledgerFloorSolanaRpc: Layer.Layer<LedgerFloor, never, NodePool> = Layer.effect(
  LedgerFloor,
  Effect.map(NodePool, ({ slots }) =>
    LedgerFloor.of({ raise: (slot) => Effect.sync(() => slots.shownUpTo(Number(slot))) }),
  ),
);
