import { describe, expect, test } from "bun:test";
import { Effect, type Layer } from "effect";
import { escrowIndexMemory } from "../../../adapters/memory/escrow-index.ts";
import type { Escrow } from "../../../core/domain/escrow/escrow.ts";
import { eventsOf } from "../../../core/domain/index/settlement-event.ts";
import { EscrowIndex, type IndexBatch, type Sighted } from "../../../ports/escrow-index.ts";
import { WORLD_LEDGER } from "../../simulation/index-of-node.ts";
import { worldEscrow } from "../../simulation/world-escrow.ts";
import { freshSchema, indexAt } from "./test-database.ts";

const ROWS = 2500;

const batchOf = (escrows: ReadonlyArray<Sighted<Escrow>>): IndexBatch => ({
  escrows,
  merchants: [],
  events: escrows.flatMap(({ row }) => eventsOf(row)),
  mark: null,
});

const pending = ({ row }: Sighted<Escrow>): Sighted<Escrow> => ({
  row: {
    ...row,
    state: "Pending",
    released: 0n,
    settledAt: null,
    settledSeq: null,
    attestation: null,
  },
  slot: 1n,
});

/** Everything that an index holds after these batches, and what it said of them. */
const after = <E>(layer: Layer.Layer<EscrowIndex, E>, batches: ReadonlyArray<IndexBatch>) =>
  Effect.runPromise(
    Effect.provide(
      EscrowIndex.use((index) =>
        Effect.all([
          Effect.forEach(batches, index.apply),
          index.escrows({}, 2 * ROWS, null),
          index.events({}, 4 * ROWS, null),
          index.summary,
        ]),
      ),
      layer,
    ),
  );

describe("a large batch", () => {
  test("is written as one, though an escrow and its events come in it at a distance", async () => {
    const settled = Array.from({ length: ROWS }, (_, at) => ({ row: worldEscrow(at), slot: 2n }));
    const batches = [
      batchOf([...settled.slice(0, ROWS / 2).map(pending), ...settled]),
      batchOf(settled),
    ];
    const seen = await after(indexAt(freshSchema(), WORLD_LEDGER), batches);
    expect(seen).toEqual(await after(escrowIndexMemory(WORLD_LEDGER), batches));
  });
});
