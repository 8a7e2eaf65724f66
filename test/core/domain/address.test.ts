import { describe, expect, test } from "bun:test";
import { type Address as KitAddress, assertIsAddress, isAddress } from "@solana/kit";
import fc from "fast-check";
import {
  type Address,
  address,
  addressFromBytes,
  addressToBytes,
  parseAddress,
  recentAddress,
  ZERO_ADDRESS,
} from "../../../core/domain/address.ts";
import { encodeBase58 } from "../../../core/domain/encoding/base58.ts";
import {
  ledgerSignatureFromBytes,
  parseLedgerSignature,
} from "../../../core/domain/ledger/signature.ts";
import { anyAddress, bytesOfLength } from "../../arbitraries/ledger-values.ts";
import { runs } from "../../arbitraries/runs.ts";
import { AddressFingerprints } from "../../../core/domain/address-fingerprints.ts";

describe("address", () => {
  test("32 bytes and their text map one to one", () => {
    fc.assert(
      fc.property(bytesOfLength(32), (bytes) => {
        const made = addressFromBytes(bytes);
        expect(addressToBytes(made)).toEqual(bytes);
        expect(parseAddress(made)).toBe(made);
        expect(isAddress(made)).toBe(true);
      }),
      runs(300),
    );
  });

  test("kit's type takes an address without a cast, but kit's addresses must be parsed", () => {
    const given: KitAddress = ZERO_ADDRESS;
    assertIsAddress(given);
    // @ts-expect-error Only core's parsers make an Address.
    const taken: Address = given;
    expect(taken).toBe(address(given));
  });

  test("kit accepts the same texts as addresses", () => {
    const text = fc.oneof(
      fc.string({ maxLength: 50 }),
      fc.integer({ min: 30, max: 34 }).chain(bytesOfLength).map(encodeBase58),
      bytesOfLength(32).map((bytes) => `1${encodeBase58(bytes)}`),
      bytesOfLength(32).map((bytes) => ` ${encodeBase58(bytes)}`),
    );
    fc.assert(
      fc.property(text, (candidate) => {
        expect(parseAddress(candidate) !== undefined).toBe(isAddress(candidate));
      }),
      runs(500),
    );
  });

  test("other lengths are a bug of the caller", () => {
    for (const length of [0, 31, 33, 64]) {
      expect(() => addressFromBytes(new Uint8Array(length))).toThrow("32 bytes");
    }
    expect(() => address("not an address")).toThrow("base58");
    expect(addressToBytes(ZERO_ADDRESS)).toEqual(new Uint8Array(32));
  });
});

describe("ledger signature", () => {
  test("64 bytes and their text map one to one, and no other text does", () => {
    fc.assert(
      fc.property(bytesOfLength(64), bytesOfLength(32), (bytes, key) => {
        const made = ledgerSignatureFromBytes(bytes);
        expect(parseLedgerSignature(made)).toBe(made);
        expect(parseLedgerSignature(`1${made}`)).toBeUndefined();
        expect(parseLedgerSignature(addressFromBytes(key))).toBeUndefined();
      }),
      runs(200),
    );
    expect(() => ledgerSignatureFromBytes(new Uint8Array(63))).toThrow("64 bytes");
  });
});

test("fingerprints behave as a set of addresses", () => {
  const few = fc.array(anyAddress, { maxLength: 20 });
  fc.assert(
    fc.property(few, few, (added, others) => {
      const fingerprints = new AddressFingerprints();
      const set = new Set<Address>();
      for (const address of [...added, ...others.slice(0, 3), ...added]) {
        expect(fingerprints.add(address)).toBe(!set.has(address));
        set.add(address);
      }
      expect(fingerprints.size).toBe(set.size);
      for (const address of others) expect(fingerprints.has(address)).toBe(set.has(address));
    }),
    runs(100),
  );
});

test("a hundred thousand addresses have a hundred thousand fingerprints", () => {
  const fingerprints = new AddressFingerprints();
  const name = (n: number) => `So1111111111111111111111111111111111${n}` as Address;
  for (let n = 0; n < 100_000; n++) fingerprints.add(name(n));
  expect(fingerprints.size).toBe(100_000);
  expect(fingerprints.has(name(99_999))).toBe(true);
  expect(fingerprints.has(name(100_000))).toBe(false);
});

test("a kept address is the one its bytes encode to, even when several addresses share its bucket", () => {
  // Few prefixes and few suffixes, so that most addresses share a bucket with another one or repeat.
  const anyBytes = fc
    .tuple(fc.constantFrom(0, 1, 255), fc.constantFrom(0, 4, 8), bytesOfLength(2))
    .map(([first, second, end]) => {
      const bytes = new Uint8Array(32);
      bytes.set([first, second]);
      bytes.set(
        end.map((byte) => byte & 3),
        30,
      );
      return bytes;
    });
  fc.assert(
    fc.property(fc.array(anyBytes, { minLength: 1, maxLength: 60 }), fc.nat(7), (all, offset) => {
      for (const bytes of all) {
        const around = new Uint8Array(40).fill(7);
        around.set(bytes, offset);
        expect(recentAddress(around, offset)).toBe(addressFromBytes(bytes));
      }
    }),
    runs(300),
  );
});

test("changing the bytes afterwards does not change the kept address", () => {
  const bytes = new Uint8Array(32).fill(9);
  const expected = addressFromBytes(bytes);
  expect(recentAddress(bytes, 0)).toBe(expected);
  bytes.fill(8, 2);
  expect(recentAddress(bytes, 0)).toBe(addressFromBytes(bytes));
  expect(recentAddress(new Uint8Array(32).fill(9), 0)).toBe(expected);
});
