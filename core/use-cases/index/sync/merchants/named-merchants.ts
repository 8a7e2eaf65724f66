import { Effect } from "effect";
import type { Address } from "../../../../domain/address.ts";
import type { LedgerAccount } from "../../../../domain/ledger/account.ts";
import type { Merchant } from "../../../../domain/merchant/merchant.ts";
import { merchantAddress } from "../../../../protocol/addresses/addresses.ts";
import { IndexWriter, type Observed } from "../../../../../ports/index/index-writer.ts";
import { Instance } from "../../../../../ports/instance.ts";
import type { IndexAccounts } from "../index-accounts.ts";
import { READ_AT_ONCE, readAccountsSince } from "../ledger/read-accounts-since.ts";

/** Merchants asked of the store at once. */
const ROWS_AT_ONCE = 1000;

/**
 * The merchants of these wallets that the index lacks, read from the ledger at `since` or later. A new escrow's merchant
 * is registered, so one that is missing here is one that history did not show. Fails like the ledger and the store.
 */
export const namedMerchants = Effect.fn("namedMerchants")(function* (
  accounts: IndexAccounts,
  wallets: Iterable<Address>,
  since: bigint,
) {
  const { deployment } = yield* Instance;
  const { merchantsAt } = yield* IndexWriter;
  const named = [...new Set(wallets)].map((wallet) => merchantAddress(deployment, wallet).address);
  const missing: Array<Address> = [];
  for (let at = 0; at < named.length; at += ROWS_AT_ONCE) {
    const some = named.slice(at, at + ROWS_AT_ONCE);
    const known = new Set((yield* merchantsAt(some)).map(({ row }) => row.address));
    missing.push(...some.filter((address) => !known.has(address)));
  }
  const observed: Array<Observed<Merchant>> = [];
  for (let at = 0; at < missing.length; at += READ_AT_ONCE) {
    const read = yield* readAccountsSince(missing.slice(at, at + READ_AT_ONCE), since);
    const present = read.value.filter((account): account is LedgerAccount => account !== null);
    observed.push(...accounts.decode(read.slot, present).merchants);
  }
  return observed;
});
