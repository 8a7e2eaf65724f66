import { expect, test } from "bun:test";
import { EVENT_LEAF_LENGTH } from "../../../../core/log/leaf/event-leaf.ts";
import { LeafWindow } from "../../../../core/use-cases/index/sync/events/prove-events.ts";

const leafOf = (byte: number) => new Uint8Array(EVENT_LEAF_LENGTH).fill(byte).fill(1, 0, 1);

test("a window keeps the leaves of its range in any order, and counts and names those that are missing", () => {
  const window = new LeafWindow(10n, 30n);
  for (const seq of [30n, 12n, 11n, 12n, 10n, 31n]) window.add({ seq, leaf: leafOf(Number(seq)) });
  expect(window.contradicted).toBeNull();
  expect(window.missing).toBe(17n);
  expect(window.firstMissing).toEqual([13n, 14n, 15n, 16n, 17n, 18n, 19n, 20n, 21n, 22n]);
  for (let seq = 29n; seq >= 13n; seq--) window.add({ seq, leaf: leafOf(Number(seq)) });
  expect(window.missing).toBe(0n);
  expect([...window.leaves()]).toEqual(
    Array.from({ length: 20 }, (_, at) => ({ seq: BigInt(at + 11), leaf: leafOf(at + 11) })),
  );
});

test("two leaves of one number are noted, and the first one stays", () => {
  const window = new LeafWindow(0n, 1n);
  for (const byte of [5, 6, 5]) window.add({ seq: 1n, leaf: leafOf(byte) });
  expect(window.contradicted).toBe(1n);
  expect([...window.leaves()]).toEqual([{ seq: 1n, leaf: leafOf(5) }]);
});
