import { expect, test } from "bun:test";
import fc from "fast-check";
import { hash32FromBytes } from "../../../../core/domain/hash32.ts";
import { firstHead, headOf, LeafChain } from "../../../../core/log/leaf/leaf-chain.ts";
import { EVENT_LEAF_LENGTH } from "../../../../core/log/leaf/event-leaf.ts";
import { bytesOfLength } from "../../../arbitraries/ledger-values.ts";
import { runs } from "../../../arbitraries/runs.ts";

const leaves = fc.array(bytesOfLength(EVENT_LEAF_LENGTH), { maxLength: 20 });

test("leaves that come once or more often make the chain over all of them", () => {
  fc.assert(
    fc.property(leaves, fc.array(fc.nat({ max: 19 })), (all, again) => {
      const chain = new LeafChain(0n, firstHead());
      for (const [at, leaf] of all.entries())
        for (let times = again.includes(at) ? 2 : 1; times > 0; times--)
          chain.add(BigInt(at + 1), leaf.slice());
      expect(chain.missingTo(BigInt(all.length))).toBe(0n);
      expect(chain.contradicted).toBeNull();
      expect(chain.head).toBe(hash32FromBytes(headOf(all)));
    }),
    runs(100),
  );
});

test("missing numbers are counted, and the first ten are named", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 40 })), (held) => {
      const chain = new LeafChain(0n, firstHead());
      for (const seq of held.toSorted((a, b) => a - b))
        chain.add(BigInt(seq), new Uint8Array(EVENT_LEAF_LENGTH));
      const missing = Array.from({ length: 40 }, (_, at) => BigInt(at + 1)).filter(
        (seq) => !held.includes(Number(seq)),
      );
      expect(chain.missingTo(40n)).toBe(BigInt(missing.length));
      expect(chain.missing).toEqual(missing.slice(0, 10));
    }),
    runs(100),
  );
});

test("a number that comes with another leaf is the contradicted one, the first of them", () => {
  const chain = new LeafChain(4n, firstHead());
  const leaf = (fill: number) => new Uint8Array(EVENT_LEAF_LENGTH).fill(fill);
  chain.add(5n, leaf(1));
  chain.add(5n, leaf(2));
  chain.add(6n, leaf(1));
  chain.add(6n, leaf(3));
  expect(chain.contradicted).toBe(5n);
  expect(chain.missingTo(6n)).toBe(0n);
});
