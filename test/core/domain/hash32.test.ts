import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { hash32FromBytes, hash32ToBytes, parseHash32 } from "../../../core/domain/hash32.ts";
import { bytesOfLength } from "../../arbitraries/ledger-values.ts";
import { runs } from "../../arbitraries/runs.ts";
import { sha256Bun } from "../../../adapters/bun/sha256.ts";
import { nativeSha256 } from "../../../client/node/native-crypto.ts";
import { portableSha256, provideSha256, type Sha256, sha256 } from "../../../core/domain/sha256.ts";

test("32 bytes are 64 lower-case hex digits, read in either case", () => {
  fc.assert(
    fc.property(bytesOfLength(32), (bytes) => {
      const hash = hash32FromBytes(bytes);
      expect(hash as string).toBe(Buffer.from(bytes).toString("hex"));
      expect(hash32ToBytes(hash)).toEqual(bytes);
      expect(parseHash32(hash)).toBe(hash);
      expect(parseHash32(hash.toUpperCase())).toBe(hash);
    }),
    runs(200),
  );
});

test("anything but 64 hex digits is refused", () => {
  const digits = "0123456789abcdef".repeat(4);
  const refused = [
    "",
    digits.slice(1),
    `${digits}0`,
    `0x${digits.slice(2)}`,
    `${digits}\n`,
    ` ${digits.slice(1)}`,
    `${digits.slice(1)}g`,
    `${digits.slice(1)}\uff11`,
  ];
  for (const text of refused) expect(parseHash32(text)).toBeUndefined();
  expect(() => hash32FromBytes(new Uint8Array(31))).toThrow("32 bytes");
});

const expected = (bytes: Uint8Array): Uint8Array =>
  new Uint8Array(createHash("sha256").update(bytes).digest());

test.each<readonly [string, Sha256]>([
  ["the portable function", portableSha256],
  ["the one that the runtime provides", sha256],
  ["the client's in Node, Bun and Deno", nativeSha256()],
  ["the same without Bun's own", nativeSha256(null)],
])("%s is SHA-256", (_name, hash) => {
  provideSha256(sha256Bun);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      expect(hash(bytes)).toEqual(expected(bytes));
      const into: Uint8Array = new Uint8Array(32);
      expect(hash(bytes, into)).toBe(into);
      expect(into).toEqual(expected(bytes));
    }),
    runs(200),
  );
});

test("only the given bytes of a larger buffer are hashed, and the caller owns the digest", () => {
  provideSha256(sha256Bun);
  const whole = Uint8Array.from({ length: 100 }, (_, i) => i);
  const first = sha256(whole.subarray(10, 60));
  sha256(whole);
  expect(first).toEqual(expected(whole.slice(10, 60)));
});

test("a function that is not SHA-256 is refused and not used", () => {
  const oneBitOff = (bytes: Uint8Array): Uint8Array => {
    const digest = sha256Bun(bytes);
    if (bytes.length > 119) digest[31] = (digest[31] ?? 0) ^ 1;
    return digest;
  };
  const wrong = [
    oneBitOff,
    (bytes: Uint8Array) => sha256Bun(bytes).slice(0, 31),
    (bytes: Uint8Array) => Uint8Array.from([...sha256Bun(bytes), 0]),
    () => new Uint8Array(32),
    // Writes nothing where it is told to.
    (bytes: Uint8Array) => sha256Bun(bytes),
  ];
  for (const native of wrong) expect(() => provideSha256(native)).toThrow("not SHA-256");
  expect(sha256(new Uint8Array(200))).toEqual(expected(new Uint8Array(200)));
});
