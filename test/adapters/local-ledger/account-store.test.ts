import { afterAll, expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  accountStore,
  type DataConditions,
  meetsConditions,
} from "../../../adapters/local-ledger/runtime/accounts/account-store.ts";
import { openLedgerDatabase } from "../../../adapters/local-ledger/runtime/ledger-database.ts";
import { addressFromBytes } from "../../../core/domain/address.ts";
import { temporaryFolder } from "./ledger-fixture.ts";

const folder = temporaryFolder();
const database = openLedgerDatabase(folder.path);
const store = accountStore(database);
afterAll(() => {
  database.close();
  folder.remove();
});

const bytes = (max: number) => fc.uint8Array({ maxLength: max, max: 2 });
const u64 = fc.bigInt({ min: 0n, max: (1n << 64n) - 1n });
const anyAddress = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(addressFromBytes);
const state = fc.record({
  lamports: u64,
  owner: anyAddress,
  data: bytes(12),
  executable: fc.boolean(),
  rentEpoch: u64,
});
const conditions: fc.Arbitrary<DataConditions> = fc.record({
  dataSize: fc.option(fc.nat(12), { nil: undefined }),
  bytesAt: fc.array(
    fc.record({ offset: fc.nat(14), bytes: fc.uint8Array({ maxLength: 4, max: 2 }) }),
    { maxLength: 3 },
  ),
});

test("an account is read back exactly, for any u64 and for empty data", () => {
  fc.assert(
    fc.property(anyAddress, state, (address, written) => {
      store.write(address, written);
      const found = [...store.ofOwner(written.owner, { bytesAt: [] })];
      expect(found).toEqual([[address, written]]);
      store.write(address, undefined);
      expect(store.has(address)).toBe(false);
    }),
  );
});

test("bytes are found only when they lie inside the data; no bytes are found there too", () => {
  const data = Uint8Array.of(1, 2, 3);
  const isMet = (offset: number, ...wanted: ReadonlyArray<number>) =>
    meetsConditions(data, { bytesAt: [{ offset, bytes: Uint8Array.from(wanted) }] });
  expect([isMet(0, 1, 2, 3), isMet(1, 2), isMet(0), isMet(3)]).toEqual([true, true, true, true]);
  expect([isMet(0, 1, 3), isMet(2, 3, 0), isMet(3, 0), isMet(4)]).toEqual([
    false,
    false,
    false,
    false,
  ]);
});

test("SQLite's filter and the in-memory filter agree", () => {
  fc.assert(
    fc.property(anyAddress, state, conditions, (address, written, wanted) => {
      store.write(address, written);
      const found = [...store.ofOwner(written.owner, wanted)].length === 1;
      store.write(address, undefined);
      expect(found).toBe(meetsConditions(written.data, wanted));
    }),
  );
});
