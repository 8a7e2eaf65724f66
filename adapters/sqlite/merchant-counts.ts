import type { Database } from "bun:sqlite";
import type { Address } from "../../core/domain/address.ts";
import { type MerchantStats, NO_ESCROWS } from "../../core/domain/merchant/merchant-stats.ts";
import type { AddressBook } from "./address-book.ts";
import { stateNumber } from "./escrow-filter.ts";

type Tally = { readonly state: bigint; readonly escrows: bigint };

/** What is counted of a merchant's escrows, as `merchantStats` counts it, from the tallies alone. */
export const merchantCounts = (
  db: Database,
  book: AddressBook,
): ((wallet: Address) => MerchantStats) => {
  const tallies = db.query<Tally, [number]>(
    "SELECT state, escrows FROM escrow_tally WHERE merchant = ?1",
  );
  const delivered = db.query<{ deliveries: bigint }, [number]>(
    "SELECT coalesce(sum(deliveries), 0) AS deliveries FROM delivery_tally WHERE merchant = ?1",
  );
  // A merchant has as many rows here as there are different delivery times, 604,800 at most.
  const nthDelivery = db.query<{ seconds: bigint }, [number, bigint]>(
    `SELECT min(seconds) AS seconds FROM (
       SELECT seconds, sum(deliveries) OVER (ORDER BY seconds) AS up_to
       FROM delivery_tally WHERE merchant = ?1
     ) WHERE up_to > ?2`,
  );
  return (wallet) => {
    const merchant = book.find(wallet);
    if (merchant === undefined) return NO_ESCROWS;
    const rows = tallies.all(merchant);
    const count = (state: Parameters<typeof stateNumber>[0]) =>
      Number(rows.find((row) => Number(row.state) === stateNumber(state))?.escrows ?? 0n);
    const deliveries = delivered.get(merchant)?.deliveries ?? 0n;
    const median = deliveries === 0n ? null : nthDelivery.get(merchant, (deliveries - 1n) / 2n);
    return {
      escrows: Number(rows.reduce((total, row) => total + row.escrows, 0n)),
      pending: count("Pending"),
      fulfilled: count("Fulfilled"),
      partiallyFulfilled: count("PartiallyFulfilled"),
      refunded: count("Refunded"),
      medianDeliverySeconds: median?.seconds ?? null,
    };
  };
};
