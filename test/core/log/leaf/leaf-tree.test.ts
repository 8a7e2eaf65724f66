import { expect, test } from "bun:test";
import fc from "fast-check";
import { hash32FromBytes } from "../../../../core/domain/hash32.ts";
import { LeafTree } from "../../../../core/log/leaf/leaf-tree.ts";
import { edgeOf, eventsIn, noEvents, rootOf } from "../../../../core/log/tree/frontier.ts";
import { TreeEdge } from "../../../../core/log/tree/tree-edge.ts";
import { EVENT_LEAF_LENGTH } from "../../../../core/log/leaf/event-leaf.ts";
import { bytesOfLength } from "../../../arbitraries/ledger-values.ts";
import { referenceRoot } from "../support/reference-tree.ts";
import { runs } from "../../../arbitraries/runs.ts";

const LEAF_0 = Uint8Array.of(0, ...new Uint8Array(32).fill(9));
const NOTHING = noEvents(LEAF_0);

const leaves = fc.array(bytesOfLength(EVENT_LEAF_LENGTH), { maxLength: 20 });

test("leaves that come once or more often make the log of all of them", () => {
  fc.assert(
    fc.property(leaves, fc.array(fc.nat({ max: 19 })), (all, again) => {
      const tree = new LeafTree(NOTHING);
      for (const [at, leaf] of all.entries())
        for (let times = again.includes(at) ? 2 : 1; times > 0; times--)
          tree.add(BigInt(at + 1), leaf.slice());
      expect(tree.missingTo(BigInt(all.length))).toBe(0n);
      expect(tree.contradicted).toBeNull();
      expect(tree.root).toBe(hash32FromBytes(referenceRoot([LEAF_0, ...all])));
      expect(rootOf(tree.events)).toBe(tree.root);
    }),
    runs(100),
  );
});

test("missing numbers are counted, and the first ten are named", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 40 })), (held) => {
      const tree = new LeafTree(NOTHING);
      for (const seq of held.toSorted((a, b) => a - b))
        tree.add(BigInt(seq), new Uint8Array(EVENT_LEAF_LENGTH));
      const missing = Array.from({ length: 40 }, (_, at) => BigInt(at + 1)).filter(
        (seq) => !held.includes(Number(seq)),
      );
      expect(tree.missingTo(40n)).toBe(BigInt(missing.length));
      expect(tree.missing).toEqual(missing.slice(0, 10));
    }),
    runs(100),
  );
});

test("a number that comes with another leaf is the contradicted one, the first of them", () => {
  const tree = new LeafTree({ ...NOTHING, count: 4n });
  const leaf = (fill: number) => new Uint8Array(EVENT_LEAF_LENGTH).fill(fill);
  tree.add(5n, leaf(1));
  tree.add(5n, leaf(2));
  tree.add(6n, leaf(1));
  tree.add(6n, leaf(3));
  expect(tree.contradicted).toBe(5n);
  expect(tree.missingTo(6n)).toBe(0n);
});

test("a log goes on from any of its states", () => {
  fc.assert(
    fc.property(leaves, fc.nat({ max: 20 }), (all, cut) => {
      const first = new LeafTree(NOTHING);
      all.slice(0, cut).forEach((leaf, at) => first.add(BigInt(at + 1), leaf));
      const later = new LeafTree(first.events);
      all.forEach((leaf, at) => {
        if (at >= cut) later.add(BigInt(at + 1), leaf);
      });
      expect(later.root).toBe(hash32FromBytes(referenceRoot([LEAF_0, ...all])));
    }),
    runs(50),
  );
});

test("what stands at bits of the size that are not set does not matter", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 40 - 1 }), bytesOfLength(1280), (size, bytes) => {
      const events = { count: BigInt(size) - 1n, frontier: bytes };
      const other = bytes.map((byte, at) =>
        Math.floor(size / 2 ** Math.floor(at / 32)) % 2 === 1 ? byte : byte ^ 0xff,
      );
      expect(rootOf({ ...events, frontier: other })).toBe(rootOf(events));
      const edge = new TreeEdge(size, edgeOf(events).roots);
      expect(rootOf(eventsIn(edge))).toBe(rootOf(events));
    }),
    runs(100),
  );
});
