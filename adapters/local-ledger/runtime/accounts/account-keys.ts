import { type Address, addressFromBytes } from "../../../../core/domain/address.ts";
import type { WireMessage } from "../../../../core/protocol/transaction/wire-transaction.ts";
import type { AccountState } from "./account-store.ts";

const LOOKUP_TABLE_PROGRAM = "AddressLookupTab1e1111111111111111111111111";
/** Bytes before the first address (Agave `address_lookup_table/state.rs`: LOOKUP_TABLE_META_SIZE). */
const LOOKUP_TABLE_META_SIZE = 56;

/** Every account of a transaction in index order: static, loaded writable, loaded read-only. */
export type AccountKeys = {
  readonly all: ReadonlyArray<Address>;
  readonly loaded: {
    readonly writable: ReadonlyArray<Address>;
    readonly readonly: ReadonlyArray<Address>;
  };
  readonly isSigner: (index: number) => boolean;
  /** Whether the message asks to write the account. The runtime may still refuse (sysvars, programs). */
  readonly isWritable: (index: number) => boolean;
};

/** The accounts of a message, with those that its address tables gave it. */
export const accountKeysOf = (
  { staticAccounts, signerCount, readonlySigners, readonlyOthers }: WireMessage,
  loaded: AccountKeys["loaded"],
): AccountKeys => {
  const fixed = staticAccounts.length;
  return {
    all: [...staticAccounts, ...loaded.writable, ...loaded.readonly],
    loaded,
    isSigner: (index) => index < signerCount,
    isWritable: (index) =>
      index < signerCount
        ? index < signerCount - readonlySigners
        : index < fixed
          ? index < fixed - readonlyOthers
          : index < fixed + loaded.writable.length,
  };
};

/**
 * The accounts of a message, including those that lookup tables hold now. A table that is missing or too short adds
 * none: the runtime refuses such a transaction itself.
 */
export const resolveAccountKeys = (
  message: WireMessage,
  read: (address: Address) => AccountState | undefined,
): AccountKeys => {
  const writable: Array<Address> = [];
  const readonly: Array<Address> = [];
  for (const lookup of message.tables) {
    const table = read(lookup.table);
    if (table === undefined || table.owner !== LOOKUP_TABLE_PROGRAM) continue;
    const take = (indexes: ReadonlyArray<number>, into: Array<Address>) => {
      for (const index of indexes) {
        const at = LOOKUP_TABLE_META_SIZE + 32 * index;
        if (at + 32 <= table.data.length)
          into.push(addressFromBytes(table.data.subarray(at, at + 32)));
      }
    };
    take(lookup.writable, writable);
    take(lookup.readonly, readonly);
  }
  return accountKeysOf(message, { writable, readonly });
};
