import type { Database } from "bun:sqlite";
import type { Address } from "../../core/domain/address.ts";
import { RecentlyUsed } from "../../core/domain/recently-used.ts";
import { addressPrefix } from "./address-prefix.ts";

/** The least number of addresses kept in each direction, and half the most: 30 MB. */
const REMEMBERED = 50_000;

/**
 * The table `address_book`: a small number for each address that rows name again and again, for good once it
 * is committed. Rows and indexes hold the number, which spares most of their size, and a page is
 * read without encoding an address anew. One book for each connection.
 */
export const addressBook = (db: Database) => {
  let numbers = new RecentlyUsed<Address, number>(REMEMBERED);
  let addresses = new RecentlyUsed<bigint, Address>(REMEMBERED);
  const select = db.query<{ number: bigint }, [number, string]>(
    "SELECT number FROM address_book WHERE prefix = ?1 AND address = ?2",
  );
  const insert = db.query<null, [string, number]>(
    "INSERT INTO address_book (address, prefix) VALUES (?1, ?2)",
  );
  const name = db.query<{ address: Address }, [bigint]>(
    "SELECT address FROM address_book WHERE number = ?1",
  );

  const find = (address: Address): number | undefined => {
    const known = numbers.get(address);
    if (known !== undefined) return known;
    const row = select.get(addressPrefix(address), address);
    if (row === null) return undefined;
    const number = Number(row.number);
    numbers.set(address, number);
    return number;
  };

  return {
    /** An address's number, undefined for one that no row names. */
    find,
    /** An address's number, given to it now if it has none; inside a transaction. */
    numberOf: (address: Address): number => {
      const found = find(address);
      if (found !== undefined) return found;
      const number = Number(insert.run(address, addressPrefix(address)).lastInsertRowid);
      numbers.set(address, number);
      return number;
    },
    /** The address of a number that a row holds. @throws Error for another number. */
    addressOf: (number: bigint): Address => {
      const known = addresses.get(number);
      if (known !== undefined) return known;
      const row = name.get(number);
      if (row === null) throw new Error("rows name no address that the book does not have");
      addresses.set(number, row.address);
      return row.address;
    },
    /** To be called when a transaction is rolled back: what it numbered may be numbered otherwise. */
    forget: (): void => {
      numbers = new RecentlyUsed(REMEMBERED);
      addresses = new RecentlyUsed(REMEMBERED);
    },
  };
};

/** See `addressBook`. */
export type AddressBook = ReturnType<typeof addressBook>;
