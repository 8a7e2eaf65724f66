import { describe, expect, test } from "bun:test";
import { type Address as KitAddress, assertIsAddress, isAddress } from "@solana/kit";
import fc from "fast-check";
import {
  type Address,
  address,
  addressFromBytes,
  addressToBytes,
  parseAddress,
  ZERO_ADDRESS,
} from "../../../core/domain/address.ts";
import { encodeBase58 } from "../../../core/domain/encoding/base58.ts";
import {
  ledgerSignatureFromBytes,
  parseLedgerSignature,
} from "../../../core/domain/ledger/signature.ts";
import { bytesOfLength } from "../../arbitraries/ledger-values.ts";
import { runs } from "../../arbitraries/runs.ts";

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
