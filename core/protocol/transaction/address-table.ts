import type { Address } from "../../domain/address.ts";
import type { LedgerAccount } from "../../domain/ledger/account.ts";
import { fieldsOf } from "../accounts/byte-fields.ts";
import { ADDRESS_LOOKUP_TABLE_PROGRAM } from "../addresses/well-known-addresses.ts";
import type { TableLookup, WireMessage } from "./wire-transaction.ts";

/** Bytes before the first address, and the type number of a table (Agave `address-lookup-table/state.rs`). */
const HEADER_LENGTH = 56;
const LOOKUP_TABLE = 1;

/** The addresses of a lookup table account, undefined when the account is none. */
export const decodeAddressTable = (
  account: Pick<LedgerAccount, "owner" | "data">,
): ReadonlyArray<Address> | undefined => {
  const { owner, data } = account;
  if (owner !== ADDRESS_LOOKUP_TABLE_PROGRAM || data.length < HEADER_LENGTH) return undefined;
  if ((data.length - HEADER_LENGTH) % 32 !== 0) return undefined;
  const fields = fieldsOf(data);
  if (fields.u32(0) !== LOOKUP_TABLE) return undefined;
  return Array.from({ length: (data.length - HEADER_LENGTH) / 32 }, (_, i) =>
    fields.address(HEADER_LENGTH + 32 * i),
  );
};

/** Every account of a transaction, in the order that its instructions count in, and which it may write. */
export type TransactionAccounts = {
  readonly addresses: ReadonlyArray<Address>;
  readonly isWritable: (place: number) => boolean;
};

/** Why a table cannot supply its accounts. */
export type TableFault = { readonly table: Address; readonly fault: "no_table" | "too_short" };

const taken = (
  lookup: TableLookup,
  from: "writable" | "readonly",
  tables: ReadonlyMap<Address, ReadonlyArray<Address>>,
): ReadonlyArray<Address> =>
  lookup[from].flatMap((place) => tables.get(lookup.table)?.[place] ?? []);

/** A message's accounts once its tables are known, or the first table that cannot supply one. */
export const resolveAccounts = (
  message: WireMessage,
  tables: ReadonlyMap<Address, ReadonlyArray<Address>>,
): TransactionAccounts | TableFault => {
  const { staticAccounts, signerCount, readonlySigners, readonlyOthers } = message;
  for (const { table, writable, readonly } of message.tables) {
    const addresses = tables.get(table);
    if (addresses === undefined) return { table, fault: "no_table" };
    if ([...writable, ...readonly].some((place) => place >= addresses.length))
      return { table, fault: "too_short" };
  }
  const writable = message.tables.flatMap((each) => taken(each, "writable", tables));
  const readonly = message.tables.flatMap((each) => taken(each, "readonly", tables));
  const writableSigners = signerCount - readonlySigners;
  const writableStatics = staticAccounts.length - readonlyOthers;
  return {
    addresses: [...staticAccounts, ...writable, ...readonly],
    isWritable: (place) =>
      place < signerCount
        ? place < writableSigners
        : place < staticAccounts.length
          ? place < writableStatics
          : place < staticAccounts.length + writable.length,
  };
};
