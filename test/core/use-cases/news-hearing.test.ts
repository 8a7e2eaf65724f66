import { expect, test } from "bun:test";
import fc from "fast-check";
import { NewsHearing } from "../../../core/use-cases/news-hearing.ts";

/** News that were heard, and that the looks at the states "a" agree with. */
const agreed = (): NewsHearing => {
  const hearing = new NewsHearing();
  hearing.taken(1000);
  hearing.heard();
  hearing.looked("a", 1001);
  return hearing;
};

test("news are relied on once the node has sent something and a look has begun after its subscription", () => {
  const hearing = new NewsHearing();
  hearing.looked("a", 900);
  hearing.taken(1000);
  // It began before the subscription: what came in between was not told.
  hearing.looked("a", 1000);
  hearing.heard();
  expect(hearing.isReliable).toBe(false);
  hearing.looked("a", 1001);
  expect(hearing.isReliable).toBe(true);
});

test("a node that takes the subscription and sends nothing is not relied on", () => {
  const hearing = new NewsHearing();
  hearing.taken(1000);
  hearing.looked("a", 1001);
  expect([hearing.isReliable, hearing.isContradicted]).toEqual([false, false]);
});

test("a change that a look finds and the news do not tell of contradicts them until they do", () => {
  const hearing = agreed();
  hearing.looked("b", 2000);
  expect([hearing.isReliable, hearing.isContradicted]).toEqual([false, true]);
  hearing.heard();
  expect(hearing.isReliable).toBe(false);
  hearing.told("b");
  expect([hearing.isReliable, hearing.isContradicted]).toEqual([true, false]);
});

test("news that no look shows are not relied on until one does", () => {
  const hearing = agreed();
  hearing.told("false");
  expect(hearing.isReliable).toBe(false);
  hearing.looked("a", 2000);
  expect([hearing.isReliable, hearing.isContradicted]).toEqual([false, true]);
  hearing.looked("false", 3000);
  expect(hearing.isReliable).toBe(true);
});

test("a lost subscription is not relied on, and the next one begins anew", () => {
  const hearing = agreed();
  hearing.lost();
  expect([hearing.isReliable, hearing.isContradicted]).toEqual([false, false]);
  hearing.taken(3000);
  hearing.looked("b", 3001);
  expect(hearing.isReliable).toBe(false);
  hearing.heard();
  expect(hearing.isReliable).toBe(true);
});

const steps = fc.oneof(
  fc.record({ kind: fc.constant("taken" as const) }),
  fc.record({ kind: fc.constant("lost" as const) }),
  fc.record({ kind: fc.constant("heard" as const) }),
  fc.record({ kind: fc.constant("told" as const), mark: fc.constantFrom("a", "b", "c") }),
  fc.record({ kind: fc.constant("looked" as const), mark: fc.constantFrom("a", "b", "c") }),
);

const isLook = ({ kind }: { readonly kind: string }): boolean => kind === "looked";

test("whatever comes, reliable news have been heard since the subscription and agree with the newest look", () => {
  fc.assert(
    fc.property(fc.array(steps, { maxLength: 40 }), (all) => {
      const hearing = new NewsHearing();
      let since: ReadonlyArray<(typeof all)[number]> | null = null;
      let looked: string | null = null;
      for (const [at, step] of all.entries()) {
        if (step.kind === "taken") hearing.taken(at);
        else if (step.kind === "lost") hearing.lost();
        else if (step.kind === "heard") hearing.heard();
        else if (step.kind === "told") hearing.told(step.mark);
        else hearing.looked(step.mark, at);
        if (step.kind === "taken") since = [];
        else if (step.kind === "lost") since = null;
        else if (since !== null) since = [...since, step];
        if (step.kind === "looked") looked = step.mark;
        if (since === null || !hearing.isReliable) continue;
        const heard = since.filter(({ kind }) => kind === "told" || kind === "heard");
        expect(heard.length).toBeGreaterThan(0);
        const told = since.findLast((each) => each.kind === "told") ?? since.find(isLook);
        expect(told).toMatchObject({ mark: looked });
        expect(hearing.isContradicted).toBe(false);
      }
    }),
  );
});
