import { SettlementChain } from "../world/settlement-chain.ts";
import { worldEscrow, worldMerchants } from "./world-escrow.ts";

/** A ledger with this many escrows, always the same ones, ten per slot. */
export const worldOf = (escrows: number): SettlementChain => {
  const chain = new SettlementChain();
  for (const merchant of worldMerchants()) chain.putMerchant(merchant);
  for (let number = 0; number < escrows; number++) {
    if (number % 10 === 0) chain.slot += 1n;
    chain.putEscrow(worldEscrow(number));
  }
  chain.slot += 100n;
  return chain;
};
