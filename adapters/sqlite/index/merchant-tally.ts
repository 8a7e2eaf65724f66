import type { Database } from "bun:sqlite";
import { type Address, addressFromBytes } from "../../../core/domain/address.ts";
import type { EscrowState } from "../../../core/domain/escrow/escrow.ts";
import { type MerchantStats, NO_ESCROWS } from "../../../core/domain/merchant/merchant.ts";
import { stateNumber } from "../../sql/index-rows.ts";
import { BODY_AT } from "../../sql/escrow-body.ts";
import { keyAt, safeAt } from "./escrow-row.ts";

/**
 * Counts of one merchant's escrows: by the number of their state, and deliveries of single payments by their seconds.
 */
type Sums = {
  readonly wallet: Uint8Array;
  readonly escrows: Map<number, number>;
  readonly deliveries: Map<number, number>;
};

const isAt = (body: Uint8Array, at: number, wallet: Uint8Array): boolean => {
  for (let i = 0; i < wallet.length; i++) if (body[at + i] !== wallet[i]) return false;
  return true;
};

/** Whether a body is that of a session: its session key is not zero. */
const isSession = (body: Uint8Array): boolean =>
  body.subarray(BODY_AT.sessionKey, BODY_AT.sessionKey + 32).some((byte) => byte !== 0);

/** The states of escrows that were delivered. */
const [FULFILLED, PARTIALLY] = [stateNumber("Fulfilled"), stateNumber("PartiallyFulfilled")];

/** Different counts that wait in memory before they are written. */
const MOST_SUMS = 100_000;

const add = (sums: Map<number, number>, key: number, change: number): boolean => {
  const sum = sums.get(key);
  sums.set(key, (sum ?? 0) + change);
  return sum === undefined;
};

/** The tables of the tallies. A snapshot fills others, which later get these names. */
const TALLY_TABLES = { escrows: "escrow_tally", deliveries: "delivery_tally" };

/** Writes tallies. Changes are summed first, since many escrows share a merchant and a state. */
export const tallyWriter = (db: Database, tables = TALLY_TABLES) => {
  const upsert = (table: string, key: string, count: string) =>
    db.query<null, [string, number, number]>(
      `INSERT INTO ${table} (merchant, ${key}, ${count}) VALUES (?1, ?2, ?3)
       ON CONFLICT (merchant, ${key}) DO UPDATE SET ${count} = ${count} + excluded.${count}`,
    );
  const upsertEscrows = upsert(tables.escrows, "state", "escrows");
  const upsertDeliveries = upsert(tables.deliveries, "seconds", "deliveries");

  /** Begins to sum the changes of one transaction. */
  const summing = () => {
    const merchants = new Map<number, Array<Sums>>();
    let waiting = 0;
    const write = (): void => {
      for (const { wallet, escrows, deliveries } of [...merchants.values()].flat()) {
        const merchant = addressFromBytes(wallet);
        for (const [state, change] of escrows)
          if (change !== 0) upsertEscrows.run(merchant, state, change);
        for (const [seconds, change] of deliveries)
          if (change !== 0) upsertDeliveries.run(merchant, seconds, change);
      }
      merchants.clear();
      waiting = 0;
    };
    const sumsOf = (body: Uint8Array): Sums => {
      const key = keyAt(body, BODY_AT.merchant);
      const sharing = merchants.get(key) ?? [];
      for (const sums of sharing) if (isAt(body, BODY_AT.merchant, sums.wallet)) return sums;
      const wallet = body.slice(BODY_AT.merchant, BODY_AT.merchant + 32);
      const sums = { wallet, escrows: new Map(), deliveries: new Map() };
      merchants.set(key, [...sharing, sums]);
      return sums;
    };
    return {
      /** Counts the escrow of a body in, or out again. */
      count: (body: Uint8Array, change: 1 | -1): void => {
        const sums = sumsOf(body);
        const state = body[BODY_AT.state] ?? 0;
        if (add(sums.escrows, state, change)) waiting += 1;
        if ((state === FULFILLED || state === PARTIALLY) && !isSession(body)) {
          const seconds = safeAt(body, BODY_AT.settledAt) - safeAt(body, BODY_AT.createdAt);
          if (add(sums.deliveries, seconds, change)) waiting += 1;
        }
        if (waiting >= MOST_SUMS) write();
      },
      write,
    };
  };

  return { summing };
};

/** What is counted of a merchant wallet's escrows, as `merchantStats` counts it, from the tallies alone. */
export const tallyReader = (db: Database): ((wallet: Address) => MerchantStats) => {
  const tallies = db.query<{ state: bigint; escrows: bigint }, [string]>(
    "SELECT state, escrows FROM escrow_tally WHERE merchant = ?1",
  );
  const delivered = db.query<{ deliveries: bigint }, [string]>(
    "SELECT coalesce(sum(deliveries), 0) AS deliveries FROM delivery_tally WHERE merchant = ?1",
  );
  // A merchant has as many rows here as there are different delivery times, 604,800 at most.
  const nthDelivery = db.query<{ seconds: bigint }, [string, bigint]>(
    `SELECT min(seconds) AS seconds FROM (
       SELECT seconds, sum(deliveries) OVER (ORDER BY seconds) AS up_to
       FROM delivery_tally WHERE merchant = ?1
     ) WHERE up_to > ?2`,
  );
  return (wallet) => {
    const rows = tallies.all(wallet);
    if (rows.length === 0) return NO_ESCROWS;
    const count = (state: EscrowState) =>
      Number(rows.find((row) => Number(row.state) === stateNumber(state))?.escrows ?? 0n);
    const deliveries = delivered.get(wallet)?.deliveries ?? 0n;
    const median = deliveries === 0n ? null : nthDelivery.get(wallet, (deliveries - 1n) / 2n);
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
