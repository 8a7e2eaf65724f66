import { expect, test } from "bun:test";
import fc from "fast-check";
import { RecentlyUsed } from "../../../core/domain/recently-used.ts";
import { runs } from "../../arbitraries/runs.ts";

test("the latest keys keep their newest values, and at most twice the capacity is kept", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.record({ key: fc.nat({ max: 10 }), isSet: fc.boolean() }), { maxLength: 60 }),
      (capacity, steps) => {
        const kept = new RecentlyUsed<number, number>(capacity);
        const newest = new Map<number, number>();
        const used: Array<number> = [];
        for (const [at, { key, isSet }] of steps.entries()) {
          if (isSet) {
            kept.set(key, at);
            newest.set(key, at);
            used.push(key);
            continue;
          }
          const found = kept.get(key);
          if (used.slice(-capacity).includes(key)) expect(found).toBe(newest.get(key));
          if (found === undefined) continue;
          expect(found).toBe(newest.get(key) ?? Number.NaN);
          used.push(key);
        }
        const held = [...newest.keys()].filter((key) => kept.get(key) !== undefined);
        expect(held.length).toBeLessThanOrEqual(2 * capacity);
      },
    ),
    runs(300),
  );
});

test("nothing is kept after all were dropped", () => {
  const kept = new RecentlyUsed<number, number>(1);
  for (const key of [1, 2]) kept.set(key, key);
  kept.clear();
  expect([kept.get(1), kept.get(2)]).toEqual([undefined, undefined]);
});
