import type { Database } from "bun:sqlite";
import { type Address, addressToBytes } from "../../core/domain/address.ts";
import type { MerchantStats } from "../../core/domain/merchant-stats.ts";
import { fromHalves } from "./columns.ts";
import { stateNumber } from "./escrow-filter.ts";

type Tally = {
  readonly state: bigint;
  readonly escrows: bigint;
  readonly released_high: bigint;
  readonly released_low: bigint;
};

/** What is counted of a merchant's escrows, as `merchantStats` counts it, from the tallies alone. */
export const merchantCounts = (db: Database): ((wallet: Address) => MerchantStats) => {
  const tallies = db.query<Tally, [Uint8Array]>("SELECT * FROM escrow_tally WHERE merchant = ?1");
  const delivered = db.query<{ deliveries: bigint }, [Uint8Array]>(
    "SELECT coalesce(sum(deliveries), 0) AS deliveries FROM delivery_tally WHERE merchant = ?1",
  );
  // A merchant has as many rows here as there are different delivery times, 604,800 at most.
  const nthDelivery = db.query<{ seconds: bigint }, [Uint8Array, bigint]>(
    `SELECT min(seconds) AS seconds FROM (
       SELECT seconds, sum(deliveries) OVER (ORDER BY seconds) AS up_to
       FROM delivery_tally WHERE merchant = ?1
     ) WHERE up_to > ?2`,
  );
  return (wallet) => {
    const merchant = addressToBytes(wallet);
    const rows = tallies.all(merchant);
    const count = (state: Parameters<typeof stateNumber>[0]) =>
      Number(rows.find((row) => Number(row.state) === stateNumber(state))?.escrows ?? 0n);
    const deliveries = delivered.get(merchant)?.deliveries ?? 0n;
    const median = deliveries === 0n ? null : nthDelivery.get(merchant, (deliveries - 1n) / 2n);
    const sum = (of: (row: Tally) => bigint) => rows.reduce((total, row) => total + of(row), 0n);
    return {
      escrows: Number(sum((row) => row.escrows)),
      pending: count("Pending"),
      fulfilled: count("Fulfilled"),
      partiallyFulfilled: count("PartiallyFulfilled"),
      refunded: count("Refunded"),
      volume: fromHalves({
        high: sum((row) => row.released_high),
        low: sum((row) => row.released_low),
      }),
      medianDeliverySeconds: median?.seconds ?? null,
    };
  };
};
