import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  isKeyName,
  parseVerifierKey,
  printVerifierKey,
  verifierKey,
} from "../../../../core/log/notes/verifier-key.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { testKey } from "../support/test-signer.ts";

/** The example of C2SP signed-note, "Verifier keys". */
const EXAMPLE = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k";

test("the specification's example is read and printed", () => {
  const parsed = parseVerifierKey(EXAMPLE);
  if ("fault" in parsed) throw new Error(parsed.fault);
  expect(parsed.value).toMatchObject({ name: "example.com/foo", id: "530d903a", use: "ed25519" });
  expect(printVerifierKey(parsed.value)).toBe(EXAMPLE);
  expect(verifierKey("example.com/foo", "ed25519", parsed.value.publicKey)).toEqual(parsed.value);
});

test("print and parse are inverse, and the two uses of a key have two ids", () => {
  const name = fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }).filter(isKeyName);
  fc.assert(
    fc.property(name, fc.integer({ min: 1, max: 255 }), (name, seed) => {
      const [log, witness] = [testKey(name, "ed25519", seed), testKey(name, "cosignature", seed)];
      expect(parseVerifierKey(printVerifierKey(log.key))).toEqual({ value: log.key });
      expect(parseVerifierKey(printVerifierKey(witness.key))).toEqual({ value: witness.key });
      expect(log.key.id).not.toBe(witness.key.id);
    }),
    runs(30),
  );
});

test("no text with another character is a key", () => {
  fc.assert(
    fc.property(
      fc.nat(EXAMPLE.length - 1),
      fc.constantFrom("A", "0", "+", " ", "", "\n"),
      (at, by) => {
        const other = EXAMPLE.slice(0, at) + by + EXAMPLE.slice(at + 1);
        expect("fault" in parseVerifierKey(other)).toBe(other !== EXAMPLE);
      },
    ),
    runs(200),
  );
});

test.each([
  ["nothing", ""],
  ["an upper-case id", EXAMPLE.replace("530d903a", "530D903A")],
  ["no name", EXAMPLE.slice("example.com/foo".length)],
  ["another name", `x${EXAMPLE}`],
  ["a short key", `a+530d903a+${Buffer.alloc(32, 1).toString("base64")}`],
  ["an unknown type", `a+530d903a+${Buffer.alloc(33, 6).toString("base64")}`],
  [
    "a point of small order",
    `a+530d903a+${Buffer.from([1, 1, ...new Uint8Array(31)]).toString("base64")}`,
  ],
])("%s is no key", (_, text) => {
  expect(parseVerifierKey(text)).toHaveProperty("fault");
});

test.each([
  "",
  " ",
  "a b",
  "a+b",
  "a\u00a0b",
  "a\u2028b",
  "a\u0085b",
  "a\nb",
  "a\u0000",
  "\ud800",
  "a".repeat(257),
])("%j names no key", (name) => {
  expect(isKeyName(name)).toBe(false);
  expect(() => verifierKey(name, "ed25519", new Uint8Array(32))).toThrow(RangeError);
});
