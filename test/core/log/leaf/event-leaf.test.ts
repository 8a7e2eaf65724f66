import { expect, test } from "bun:test";
import fc from "fast-check";
import { ESCROW_STATES } from "../../../../core/domain/escrow/escrow.ts";
import {
  decodeEventLeaf,
  encodeEventLeaf,
  EVENT_LEAF_LENGTH,
} from "../../../../core/log/leaf/event-leaf.ts";
import { anyAddress, anyHash32, bytesOfLength } from "../../../arbitraries/ledger-values.ts";
import { runs } from "../../../arbitraries/runs.ts";

const anyLeaf = fc.record({
  state: fc.constantFrom(...ESCROW_STATES),
  escrow: anyAddress,
  accountHash: anyHash32,
});

test("encode and decode are inverse, and a leaf has 66 bytes", () => {
  fc.assert(
    fc.property(anyLeaf, (leaf) => {
      const bytes = encodeEventLeaf(leaf);
      expect(bytes.length).toBe(EVENT_LEAF_LENGTH);
      expect(decodeEventLeaf(bytes)).toEqual({ value: leaf });
    }),
    runs(200),
  );
});

test("any 66 bytes are a leaf with the same bytes, or a fault", () => {
  fc.assert(
    fc.property(bytesOfLength(66), fc.nat(3), fc.nat(5), (bytes, kind, state) => {
      bytes[0] = kind;
      bytes[1] = state;
      const decoded = decodeEventLeaf(bytes);
      if ("fault" in decoded)
        expect(decoded.fault).toBe(kind === 1 ? "unknown_state" : "unknown_kind");
      else {
        expect([kind, state < 4]).toEqual([1, true]);
        expect(encodeEventLeaf(decoded.value)).toEqual(bytes);
      }
    }),
    runs(200),
  );
});

test.each([0, 1, 65, 67, 96])("%d bytes are no leaf", (length) => {
  expect(decodeEventLeaf(new Uint8Array(length).fill(1))).toEqual({ fault: "wrong_length" });
});
