import { Effect } from "effect";
import type { Address } from "../../../../domain/address.ts";
import type { Merchant } from "../../../../domain/merchant/merchant.ts";
import { encodeMerchantAccount } from "../../../../protocol/accounts/merchant-account.ts";
import { IndexWriter, type Observed } from "../../../../../ports/index/index-writer.ts";
import type { IndexAccounts } from "../index-accounts.ts";

/** Rows asked of the store at once. */
const ROWS_AT_ONCE = 1000;

const isSame = (a: Merchant, b: Merchant): boolean =>
  encodeMerchantAccount(a).toHex() === encodeMerchantAccount(b).toHex();

/** The newest observation of each merchant. */
const newestOf = (observations: ReadonlyArray<Observed<Merchant>>) => {
  const newest = new Map<Address, Observed<Merchant>>();
  for (const observed of observations) {
    const known = newest.get(observed.row.address);
    if (known === undefined || known.slot <= observed.slot)
      newest.set(observed.row.address, observed);
  }
  return [...newest.values()];
};

/**
 * The rows that observations change in the index, each merchant once: the newest slot wins. One that the index knows
 * already raises its row's slot, so that an older one cannot undo it later. Counts them in `accounts`.
 */
export const merchantChanges = Effect.fnUntraced(function* (
  accounts: IndexAccounts,
  observations: ReadonlyArray<Observed<Merchant>>,
) {
  const { merchantsAt } = yield* IndexWriter;
  const { merchants: tally } = accounts;
  const newest = newestOf(observations);
  const changes: Array<Observed<Merchant>> = [];
  for (let at = 0; at < newest.length; at += ROWS_AT_ONCE) {
    const some = newest.slice(at, at + ROWS_AT_ONCE);
    const rows = yield* merchantsAt(some.map(({ row }) => row.address));
    const stored = new Map(rows.map((observed) => [observed.row.address, observed]));
    for (const observed of some) {
      const known = stored.get(observed.row.address);
      const isUnchanged =
        known !== undefined && (known.slot > observed.slot || isSame(known.row, observed.row));
      tally[known === undefined ? "created" : isUnchanged ? "unchanged" : "updated"] += 1;
      if (known === undefined || observed.slot > known.slot || !isUnchanged) changes.push(observed);
    }
  }
  return changes;
});
