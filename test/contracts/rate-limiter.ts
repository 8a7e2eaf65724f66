import { describe, expect, test } from "bun:test";
import { Effect, Layer } from "effect";
import { TestClock } from "effect/testing";
import fc from "fast-check";
import { BUDGETS, type Budget, MAX_OWED_WINDOWS, RateLimiter } from "../../ports/rate-limiter.ts";
import { runs } from "../arbitraries/runs.ts";
import { patientClock } from "../doubles/patient-clock.ts";

type Options = {
  readonly limits: Readonly<Record<Budget, number>>;
  readonly windowSeconds: number;
};

const limit = fc.integer({ min: 1, max: 20 });
const options: fc.Arbitrary<Options> = fc.record({
  limits: fc.record({ reads: limit, prepare: limit, relay: limit, sync: limit }),
  windowSeconds: fc.integer({ min: 1, max: 120 }),
});
const budget = fc.constantFrom(...BUDGETS);

const allowed = (limiter: RateLimiter["Service"], client: string) =>
  Effect.map(limiter.take("reads", client, 1), (decision) => decision.allowed);

/** What every rate limiter must do. `make` returns the layer of one with no counts. */
export const rateLimiterContract = (
  name: string,
  make: (options: Options) => Layer.Layer<RateLimiter>,
) => {
  const run = <A>(
    options: Options,
    program: (limiter: RateLimiter["Service"]) => Effect.Effect<A>,
  ) =>
    Effect.runPromise(
      Effect.provide(RateLimiter.use(program), Layer.merge(make(options), patientClock())),
    );

  describe(`${name} is a rate limiter`, () => {
    test("states the policy it was given", () =>
      fc.assert(
        fc.asyncProperty(options, async (given) => {
          const { limits, windowSeconds } = await run(given, Effect.succeed);
          expect({ limits, windowSeconds }).toEqual(given);
        }),
        runs(20),
      ));

    test("allows a client its limit and no more, whatever other clients and budgets use", () =>
      fc.assert(
        fc.asyncProperty(options, budget, (given, budget) =>
          run(given, (limiter) =>
            Effect.gen(function* () {
              const limit = given.limits[budget];
              for (let left = limit - 1; left >= 0; left--) {
                const { resetSeconds, ...decision } = yield* limiter.take(budget, "a", 1);
                expect(decision).toEqual({
                  allowed: true,
                  limit,
                  windowSeconds: given.windowSeconds,
                  remaining: left,
                });
                expect(resetSeconds).toBeWithin(1, given.windowSeconds + 1);
              }
              const refused = yield* limiter.take(budget, "a", 1);
              expect(refused).toMatchObject({ allowed: false, remaining: 0 });
              expect(refused.resetSeconds).toBeWithin(1, given.windowSeconds + 1);
              expect((yield* limiter.take(budget, "b", 1)).allowed).toBe(true);
              for (const other of BUDGETS.filter((other) => other !== budget)) {
                expect((yield* limiter.take(other, "a", 1)).allowed).toBe(true);
              }
            }),
          ),
        ),
        runs(30),
      ));

    test("a cost beyond the rest takes nothing", () =>
      fc.assert(
        fc.asyncProperty(options, budget, fc.nat({ max: 20 }), (given, budget, used) =>
          run(given, (limiter) =>
            Effect.gen(function* () {
              const limit = given.limits[budget];
              const spent = Math.min(used, limit);
              yield* limiter.take(budget, "a", spent);
              const refused = yield* limiter.take(budget, "a", limit - spent + 1);
              expect(refused).toMatchObject({ allowed: false, remaining: limit - spent });
              const taken = yield* limiter.take(budget, "a", limit - spent);
              expect(taken).toMatchObject({ allowed: true, remaining: 0 });
            }),
          ),
        ),
        runs(30),
      ));

    test("the wait of a refusal suffices, and is never longer than a window", () =>
      fc.assert(
        fc.asyncProperty(
          options,
          budget,
          fc.array(fc.record({ waitMs: fc.nat({ max: 90_000 }), cost: fc.nat({ max: 5 }) }), {
            maxLength: 20,
          }),
          (given, budget, requests) =>
            run(given, (limiter) =>
              Effect.gen(function* () {
                for (const { waitMs, cost } of requests) {
                  yield* TestClock.adjust(waitMs);
                  const affordable = Math.min(cost, given.limits[budget]);
                  const decision = yield* limiter.take(budget, "a", affordable);
                  if (decision.allowed) continue;
                  expect(decision.resetSeconds).toBeWithin(1, given.windowSeconds + 1);
                  yield* TestClock.adjust(decision.resetSeconds * 1000);
                  expect((yield* limiter.take(budget, "a", affordable)).allowed).toBe(true);
                }
              }),
            ),
        ),
        runs(30),
      ));

    test("points that are given back can be used again, and never more than were taken", () =>
      run({ limits: { reads: 9, prepare: 9, relay: 9, sync: 9 }, windowSeconds: 60 }, (limiter) =>
        Effect.gen(function* () {
          yield* limiter.take("relay", "a", 5);
          yield* limiter.charge("relay", "a", -2);
          expect(yield* limiter.take("relay", "a", 0)).toMatchObject({ remaining: 6 });
          yield* limiter.charge("relay", "a", -9);
          expect(yield* limiter.take("relay", "a", 0)).toMatchObject({ remaining: 9 });
        }),
      ));

    test("a charge takes what is left, and the excess is owed by later windows", () => {
      const limits = { reads: 10, prepare: 10, relay: 10, sync: 10 };
      return run({ limits, windowSeconds: 60 }, (limiter) =>
        Effect.gen(function* () {
          yield* limiter.take("relay", "a", 3);
          yield* limiter.charge("relay", "a", 4);
          expect(yield* limiter.take("relay", "a", 4)).toMatchObject({
            allowed: false,
            remaining: 3,
            resetSeconds: 60,
          });
          // 7 and 18 are 25: two windows are used up, and half of the third.
          yield* limiter.charge("relay", "a", 18);
          const refused = { allowed: false, remaining: 0 };
          expect(yield* limiter.take("relay", "a", 5)).toMatchObject({
            ...refused,
            resetSeconds: 120,
          });
          yield* TestClock.adjust(60_000);
          expect(yield* limiter.take("relay", "a", 6)).toMatchObject({
            ...refused,
            resetSeconds: 120,
          });
          yield* TestClock.adjust(60_000);
          expect(yield* limiter.take("relay", "a", 5)).toMatchObject({
            allowed: true,
            remaining: 0,
            resetSeconds: 60,
          });
          yield* TestClock.adjust(60_000);
          expect((yield* limiter.take("relay", "a", 10)).allowed).toBe(true);
          for (const [budget, client] of [
            ["relay", "b"],
            ["reads", "a"],
          ] as const)
            expect((yield* limiter.take(budget, client, 10)).allowed).toBe(true);
        }),
      );
    });

    test("the wait of a refusal suffices for the largest debt too", () =>
      fc.assert(
        fc.asyncProperty(
          options,
          budget,
          fc.array(
            fc.record({
              waitMs: fc.nat({ max: 400_000 }),
              cost: fc.nat({ max: 5 }),
              charge: fc.nat({ max: 300 }),
            }),
            { maxLength: 12 },
          ),
          (given, budget, requests) =>
            run(given, (limiter) =>
              Effect.gen(function* () {
                for (const { waitMs, cost, charge } of requests) {
                  yield* TestClock.adjust(waitMs);
                  yield* limiter.charge(budget, "a", charge);
                  const affordable = Math.min(cost, given.limits[budget]);
                  const decision = yield* limiter.take(budget, "a", affordable);
                  expect(decision.remaining).toBeGreaterThanOrEqual(0);
                  if (decision.allowed) continue;
                  const longest = given.windowSeconds * (1 + MAX_OWED_WINDOWS);
                  expect(decision.resetSeconds).toBeWithin(1, longest + 1);
                  yield* TestClock.adjust(decision.resetSeconds * 1000);
                  expect((yield* limiter.take(budget, "a", affordable)).allowed).toBe(true);
                }
              }),
            ),
        ),
        runs(30),
      ));

    test("a client gets at most twice its limit in any stretch as long as a window", () =>
      fc.assert(
        fc.asyncProperty(
          options,
          budget,
          fc.array(fc.nat({ max: 20_000 }), { minLength: 1, maxLength: 60 }),
          (given, budget, waits) =>
            run(given, (limiter) =>
              Effect.gen(function* () {
                const allowedAt: Array<number> = [];
                let now = 0;
                for (const waitMs of waits) {
                  now += waitMs;
                  yield* TestClock.adjust(waitMs);
                  if ((yield* limiter.take(budget, "a", 1)).allowed) allowedAt.push(now);
                }
                for (const start of allowedAt) {
                  const end = start + given.windowSeconds * 1000;
                  const within = allowedAt.filter((at) => at >= start && at < end);
                  expect(within.length).toBeLessThanOrEqual(2 * given.limits[budget]);
                }
              }),
            ),
        ),
        runs(30),
      ));

    test("IPv6 clients of one /64 share a budget", () =>
      run({ limits: { reads: 1, prepare: 1, relay: 1, sync: 1 }, windowSeconds: 60 }, (limiter) =>
        Effect.gen(function* () {
          expect(yield* allowed(limiter, "2001:db8:1:2::1")).toBe(true);
          expect(yield* allowed(limiter, "2001:db8:1:2:ffff::2")).toBe(false);
          expect(yield* allowed(limiter, "2001:db8:1:3::1")).toBe(true);
        }),
      ));
  });
};
