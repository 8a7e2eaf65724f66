import { worldEscrow, worldMerchants } from "./world-escrow.ts";
import { WorldNode } from "./world-node.ts";

/** A ledger with this many escrows, always the same ones, ten per slot. */
export const worldOf = (escrows: number): WorldNode => {
  const node = new WorldNode();
  for (const merchant of worldMerchants()) node.putMerchant(merchant);
  for (let number = 0; number < escrows; number++) {
    if (number % 10 === 0) node.slot += 1;
    node.putEscrow(worldEscrow(number));
  }
  node.slot += 100;
  return node;
};
