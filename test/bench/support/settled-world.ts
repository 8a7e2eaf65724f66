import type { Escrow } from "../../../core/domain/escrow/escrow.ts";
import { worldEscrow } from "../../simulation/world-escrow.ts";

/** The `number`th settled escrow of a world, with the numbers of its two events: their log has no gap. */
export const settledEscrow = (number: number): Escrow => ({
  // Every fourth one of a world is Pending.
  ...worldEscrow(number + Math.floor(number / 3) + 1),
  createdSeq: BigInt(2 * number + 1),
  settledSeq: BigInt(2 * number + 2),
});

/** Which of `escrows` settled ones a measurement asks for: at most `count`, from every part of the log. */
export const sampled = (escrows: number, count: number): ReadonlyArray<number> =>
  Array.from({ length: Math.min(count, escrows) }, (_, at) =>
    Math.floor((((at * 7919) % count) / count) * escrows),
  );
