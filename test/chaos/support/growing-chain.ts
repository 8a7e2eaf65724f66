import { pendingOf, worldEscrow } from "../../simulation/world-escrow.ts";
import { worldOf } from "../../simulation/world.ts";

/**
 * A ledger with some escrows that a test lets grow: each time more are created, and those of the time before settled, so
 * that the events of one escrow are far apart.
 */
export const growingChain = (firstEscrows: number, below: (n: number) => number) => {
  const chain = worldOf(firstEscrows);
  let open: Array<number> = [];
  let created = firstEscrows;
  const grow = (): void => {
    for (const number of open) {
      const settled = worldEscrow(number);
      if (settled.state !== "Pending") chain.settle(settled);
    }
    open = Array.from({ length: 20 + below(20) }, () => created++);
    for (const number of open) chain.create([pendingOf(worldEscrow(number))]);
    chain.slot += 50n;
  };
  return { chain, grow };
};
