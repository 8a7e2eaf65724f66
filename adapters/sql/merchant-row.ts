import { type Address, addressToBytes } from "../../core/domain/address.ts";
import {
  foldName,
  nameKey,
  searchableAddresses,
} from "../../core/domain/merchant/merchant-search.ts";
import { MERCHANT_STATUSES, type Merchant } from "../../core/domain/merchant/merchant.ts";
import {
  encodeMerchantAccount,
  merchantIn,
} from "../../core/protocol/accounts/merchant-account.ts";
import type { Observed } from "../../ports/index/index-writer.ts";
import { u64Of } from "./index-rows.ts";

/**
 * The columns of a merchant's row and their types in PostgreSQL, in the order of `merchantValues`. All but slot and
 * account repeat what rows are searched by, sorted by or counted for.
 */
export const MERCHANT_COLUMNS = {
  address: "TEXT",
  slot: "NUMERIC",
  account: "BYTEA",
  wallet: "BYTEA",
  status: "INT2",
  registered_at: "INT8",
  reputation: "INT8",
  name_key: "TEXT",
  folded_name: "TEXT",
  folded_addresses: "TEXT",
} as const;

/** The columns' values of a merchant; `slotColumn` is how the store holds a u64. */
export const merchantValues = (
  { row, slot }: Observed<Merchant>,
  slotColumn: (u64: bigint) => bigint,
) =>
  [
    row.address,
    slotColumn(slot),
    encodeMerchantAccount(row),
    addressToBytes(row.wallet),
    MERCHANT_STATUSES.indexOf(row.status),
    row.registeredAt,
    row.reputation,
    nameKey(row.name),
    foldName(row.name),
    searchableAddresses(row).join(" "),
  ] as const;

/** What is read of a merchant's row. */
export type MerchantRow = {
  readonly address: Address;
  readonly slot: bigint | string;
  readonly account: Uint8Array;
};

/** The merchant of a row. */
export const merchantOf = ({ address, account }: Pick<MerchantRow, "address" | "account">) =>
  merchantIn(address, account);

/** The merchant of a row, with the slot at which the ledger showed it. */
export const observedOf = (row: MerchantRow): Observed<Merchant> => ({
  row: merchantOf(row),
  slot: u64Of(row.slot),
});
