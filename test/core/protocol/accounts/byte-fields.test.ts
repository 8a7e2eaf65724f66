import { expect, test } from "bun:test";
import fc from "fast-check";
import { fieldsOf } from "../../../../core/protocol/accounts/byte-fields.ts";
import { runs } from "../../../arbitraries/runs.ts";

/** Bytes in which whole fields are often all zero or all ones. */
const anyBytes = fc
  .array(fc.oneof(fc.constantFrom(0, 0x1f, 0x20, 0x7f, 0x80, 255), fc.nat(255)), { maxLength: 24 })
  .map((bytes) => Uint8Array.from(bytes));

/** The result of a read, or the kind of its error. */
const outcome = (read: () => unknown): unknown => {
  try {
    return read();
  } catch (cause) {
    return cause instanceof RangeError ? "RangeError" : cause;
  }
};

test("numbers equal a DataView's, and a read past the end throws", () => {
  fc.assert(
    fc.property(anyBytes, fc.nat(26), (bytes, at) => {
      const fields = fieldsOf(bytes);
      const view = new DataView(bytes.buffer);
      expect(outcome(() => fields.u8(at))).toBe(outcome(() => view.getUint8(at)));
      expect(outcome(() => fields.u32(at))).toBe(outcome(() => view.getUint32(at, true)));
      expect(outcome(() => fields.u64(at))).toBe(outcome(() => view.getBigUint64(at, true)));
      expect(outcome(() => fields.i64(at))).toBe(outcome(() => view.getBigInt64(at, true)));
    }),
    runs(2000),
  );
});

test("bytes are copied, compared and tested for zero at their offset", () => {
  const bytes = Uint8Array.of(1, 0, 0, 2);
  const fields = fieldsOf(bytes);
  fields.bytes(0, 4).fill(9);
  expect(bytes).toEqual(Uint8Array.of(1, 0, 0, 2));
  expect([0, 1, 2].map((at) => fields.isZero(at, 2))).toEqual([false, true, false]);
  expect(fields.isAt(2, Uint8Array.of(0, 2))).toBe(true);
  expect(fields.isAt(2, Uint8Array.of(0, 3))).toBe(false);
  expect(fields.isAt(3, Uint8Array.of(2, 0))).toBe(false);
  expect(() => fields.bytes(2, 3)).toThrow(RangeError);
  expect(() => fields.isZero(4, 1)).toThrow(RangeError);
  expect(() => fields.address(0)).toThrow(RangeError);
  expect(() => fields.hash(0)).toThrow(RangeError);
});
