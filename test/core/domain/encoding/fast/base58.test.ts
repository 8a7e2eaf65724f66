import { describe, expect, test } from "bun:test";
import { base58 as scure } from "@scure/base";
import { getBase58Codec } from "@solana/kit";
import fc from "fast-check";
import {
  type FastParts,
  IMPLEMENTATIONS,
} from "../../../../../core/domain/encoding/fast/fast-parts.ts";
import { bytesOfLength } from "../../../../arbitraries/ledger-values.ts";
import { runs } from "../../../../arbitraries/runs.ts";

const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const kit = getBase58Codec();
const byKit = (bytes: Uint8Array): string => kit.decode(bytes);
const anyBytes = fc.nat({ max: 70 }).chain(bytesOfLength);

/** Base58 texts of any kind: encodings of real lengths, and arbitrary ones. */
const anyBase58 = fc.oneof(
  anyBytes.map(byKit),
  fc.string({ unit: fc.constantFrom(...ALPHABET.split("")), maxLength: 60 }),
  fc
    .tuple(fc.nat({ max: 34 }), fc.constantFrom("1", "2", "y", "z"), fc.nat({ max: 48 }))
    .map(([ones, digit, digits]) => "1".repeat(ones) + digit.repeat(digits)),
);

const LIMIT = 2n ** 256n;
const bytesOf = (value: bigint): Uint8Array =>
  Uint8Array.from(Buffer.from(value.toString(16).padStart(64, "0"), "hex"));

/** Numbers of 32 bytes next to the limits of limbs, words and groups of characters. */
const anyEdge = fc
  .tuple(
    fc.constantFrom(2n ** 8n, 2n ** 16n, 2n ** 20n, 2n ** 24n, 2n ** 32n, 58n, 58n ** 5n),
    fc.bigInt({ min: 0n, max: 44n }),
    fc.bigInt({ min: 1n, max: 2n ** 32n }),
    fc.bigInt({ min: -2n, max: 2n }),
  )
  .map(([base, power, factor, off]) => (((base ** power * factor + off) % LIMIT) + LIMIT) % LIMIT);

/** Numbers with the smallest and largest groups of five characters, or any. */
const anyOfGroups = fc
  .array(
    fc.oneof(fc.constantFrom(0n, 1n, 58n ** 5n - 1n), fc.bigInt({ min: 0n, max: 58n ** 5n - 1n })),
    { minLength: 9, maxLength: 9 },
  )
  .map((groups) => groups.reduce((value, group) => value * 58n ** 5n + group, 0n) % LIMIT);

/** The implementation that runs and the library's. Both must give the same. */
const implementations: ReadonlyArray<readonly [string, FastParts]> =
  Object.entries(IMPLEMENTATIONS);

describe.each(implementations)("base58, %s", (_, { encodeBase58, decodeBase58 }) => {
  test("bytes of every length from 0 to 70 encode as kit does, and decode back", () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        const text = encodeBase58(bytes);
        expect(text).toBe(kit.decode(bytes));
        expect(decodeBase58(text, bytes.length)).toEqual(bytes);
      }),
      runs(1000),
    );
    for (let length = 0; length <= 70; length++) {
      for (const byte of [0, 1, 57, 58, 255]) {
        const bytes = new Uint8Array(length).fill(byte);
        expect(encodeBase58(bytes)).toBe(kit.decode(bytes));
        expect(decodeBase58(encodeBase58(bytes), length)).toEqual(bytes);
      }
    }
  });

  test("32 bytes encode as @scure/base does and decode back, at every edge of the arithmetic", () => {
    fc.assert(
      fc.property(fc.oneof(anyEdge, anyOfGroups, bytesOfLength(32)), (value) => {
        const bytes = typeof value === "bigint" ? bytesOf(value) : value;
        const text = scure.encode(bytes);
        expect(encodeBase58(bytes)).toBe(text);
        expect(decodeBase58(text, 32)).toEqual(bytes);
      }),
      runs(2000),
    );
  });

  test("a text of 2^256 or more is refused, whatever its groups of characters", () => {
    const anyExcess = fc.oneof(
      fc.bigInt({ min: 0n, max: 2n }),
      fc.bigInt({ min: 0n, max: 58n ** 44n - 1n - LIMIT }),
      anyEdge,
    );
    fc.assert(
      fc.property(anyExcess, (excess) => {
        const bytes = Buffer.from((LIMIT + excess).toString(16).padStart(66, "0"), "hex");
        const text = scure.encode(bytes);
        expect(decodeBase58(text, 32)).toBeUndefined();
        expect(decodeBase58(text, 33)).toEqual(new Uint8Array(bytes));
      }),
      runs(500),
    );
  });

  // A text stands for exactly one number of bytes, so it is canonical at that length only.
  test("a text decodes at the one length it encodes, and at no other", () => {
    fc.assert(
      fc.property(anyBase58, (text) => {
        const bytes = new Uint8Array(kit.encode(text));
        for (let length = 0; length <= 72; length++) {
          expect(decodeBase58(text, length)).toEqual(length === bytes.length ? bytes : undefined);
        }
      }),
      runs(150),
    );
  });

  test("a character outside the alphabet is refused at any position", () => {
    const strange = [
      ..."0OIl+/ \t\n-_=.".split(""),
      "\0",
      "\u0141",
      "\u{1f600}",
      "\u0131",
      "\u2161",
    ];
    fc.assert(
      fc.property(
        bytesOfLength(32).map(byKit),
        fc.nat(),
        fc.constantFrom(...strange),
        (text, at, character) => {
          const index = at % text.length;
          const replaced = text.slice(0, index) + character + text.slice(index + 1);
          expect(decodeBase58(replaced, 32)).toBeUndefined();
        },
      ),
      runs(300),
    );
  });

  test("texts slightly too large for 32 bytes are refused", () => {
    const max = encodeBase58(new Uint8Array(32).fill(255));
    expect(max).toBe("JEKNVnkbo3jma5nREBBJCDoXFVeKkD56V3xKrvRmWxFG");
    expect(decodeBase58(max, 32)).toEqual(new Uint8Array(32).fill(255));
    expect(decodeBase58(`${max.slice(0, -1)}H`, 32)).toBeUndefined();
    expect(decodeBase58("z".repeat(44), 32)).toBeUndefined();
    expect(decodeBase58("z".repeat(45), 32)).toBeUndefined();
    expect(decodeBase58("1".repeat(31), 32)).toBeUndefined();
    expect(decodeBase58("1".repeat(33), 32)).toBeUndefined();
    expect(decodeBase58(`1${max}`, 32)).toBeUndefined();
    expect(decodeBase58("", 32)).toBeUndefined();
    expect(decodeBase58("2".repeat(1_000_000), 32)).toBeUndefined();
  });
});
