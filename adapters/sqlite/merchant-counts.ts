import type { Database } from "bun:sqlite";
import { type Address, addressToBytes } from "../../core/domain/address.ts";
import type { MerchantStats } from "../../core/domain/merchant-stats.ts";
import { fromHalves, sumHalves } from "./columns.ts";
import { stateNumber } from "./escrow-filter.ts";

/** Counts a merchant's escrows as `merchantStats` does, from the indexes alone. */
export const merchantCounts = (db: Database): ((wallet: Address) => MerchantStats) => {
  const states = db.query<{ state: bigint; count: bigint }, [Uint8Array]>(
    "SELECT state, count(*) AS count FROM escrow WHERE merchant = ?1 GROUP BY state",
  );
  const deliveries = db.query<{ count: bigint; high: bigint; low: bigint }, [Uint8Array]>(
    `SELECT count(*) AS count, ${sumHalves("released")} FROM escrow
     WHERE merchant = ?1 AND delivery_seconds IS NOT NULL`,
  );
  const nthDelivery = db.query<{ seconds: bigint }, [Uint8Array, bigint]>(
    `SELECT delivery_seconds AS seconds FROM escrow
     WHERE merchant = ?1 AND delivery_seconds IS NOT NULL
     ORDER BY delivery_seconds LIMIT 1 OFFSET ?2`,
  );
  return (wallet) => {
    const merchant = addressToBytes(wallet);
    const counts = new Map(states.all(merchant).map((r) => [Number(r.state), Number(r.count)]));
    const delivered = deliveries.get(merchant) ?? { count: 0n, high: 0n, low: 0n };
    const median =
      delivered.count === 0n ? null : nthDelivery.get(merchant, (delivered.count - 1n) / 2n);
    return {
      escrows: [...counts.values()].reduce((sum, count) => sum + count, 0),
      pending: counts.get(stateNumber("Pending")) ?? 0,
      fulfilled: counts.get(stateNumber("Fulfilled")) ?? 0,
      partiallyFulfilled: counts.get(stateNumber("PartiallyFulfilled")) ?? 0,
      refunded: counts.get(stateNumber("Refunded")) ?? 0,
      volume: fromHalves(delivered),
      medianDeliverySeconds: median?.seconds ?? null,
    };
  };
};
