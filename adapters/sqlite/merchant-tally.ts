import type { Database } from "bun:sqlite";
import type { EscrowState } from "../../core/domain/escrow/escrow.ts";
import { stateNumber } from "./escrow-filter.ts";

/** What counts of an escrow: its state, and how long its delivery took where there was one. */
export type Counted = { readonly state: EscrowState; readonly deliverySeconds: bigint | null };

/** Changes of counts, by merchant and by what is counted. */
type Sums<Key> = Map<number, Map<Key, number>>;

const add = <Key>(sums: Sums<Key>, merchant: number, key: Key, change: 1 | -1): void => {
  const own = sums.get(merchant) ?? new Map<Key, number>();
  if (own.size === 0) sums.set(merchant, own);
  own.set(key, (own.get(key) ?? 0) + change);
};

/**
 * What the registry counts of each merchant, so that a page of it costs the same however many escrows there are:
 * escrows by state, and deliveries by their seconds, of which an escrow's greatest time to live
 * allows 604,800. A batch's changes are summed first, then written. Merchants go by their
 * numbers in the address book.
 */
export const merchantTally = (db: Database) => {
  const upsert = (table: string, key: string, count: string) =>
    db.query<null, [number, number | bigint, number]>(
      `INSERT INTO ${table} (merchant, ${key}, ${count}) VALUES (?1, ?2, ?3)
       ON CONFLICT (merchant, ${key}) DO UPDATE SET ${count} = ${count} + excluded.${count}`,
    );
  const forget = (table: string, key: string, count: string) =>
    db.query<null, [number, number | bigint]>(
      `DELETE FROM ${table} WHERE merchant = ?1 AND ${key} = ?2 AND ${count} = 0`,
    );
  const escrowUpsert = upsert("escrow_tally", "state", "escrows");
  const escrowForget = forget("escrow_tally", "state", "escrows");
  const deliveryUpsert = upsert("delivery_tally", "seconds", "deliveries");

  return {
    /** Begins to sum the changes of one transaction. */
    summing: () => {
      const escrows: Sums<number> = new Map();
      const deliveries: Sums<bigint> = new Map();
      return {
        /** Counts an escrow of a merchant in, or out again. */
        count: (merchant: number, { state, deliverySeconds }: Counted, change: 1 | -1): void => {
          add(escrows, merchant, stateNumber(state), change);
          if (deliverySeconds !== null) add(deliveries, merchant, deliverySeconds, change);
        },
        /** Writes the sums; what is counted does not depend on how it came to be. */
        write: (): void => {
          for (const [merchant, states] of escrows) {
            for (const [state, change] of states) {
              if (change === 0) continue;
              escrowUpsert.run(merchant, state, change);
              if (change < 0) escrowForget.run(merchant, state);
            }
          }
          for (const [merchant, times] of deliveries) {
            for (const [seconds, change] of times) {
              if (change !== 0) deliveryUpsert.run(merchant, seconds, change);
            }
          }
        },
      };
    },
  };
};
