import { expect, test } from "bun:test";
import { Clock, Effect, Layer } from "effect";
import { TestClock } from "effect/testing";
import { rateLimiterMemory } from "../../../adapters/memory/rate-limiter.ts";
import { RateLimiter } from "../../../ports/rate-limiter.ts";
import { rateLimiterContract } from "../../contracts/rate-limiter.ts";
import { patientClock } from "../../doubles/patient-clock.ts";

rateLimiterContract("rateLimiterMemory", (options) =>
  rateLimiterMemory({ ...options, maxClients: 1000 }),
);

const single = { limits: { reads: 1, prepare: 1, relay: 1, sync: 1 }, windowSeconds: 60 };

const allowedBy = (limiter: RateLimiter["Service"]) => (client: string) =>
  Effect.map(limiter.take("reads", client, 1), (decision) => decision.allowed);

test("rateLimiterMemory drops the client with the oldest window when there are too many", () =>
  Effect.runPromise(
    Effect.provide(
      RateLimiter.use((limiter) =>
        Effect.gen(function* () {
          const allowed = allowedBy(limiter);
          for (const client of ["a", "b", "c"]) expect(yield* allowed(client)).toBe(true);
          for (const client of ["b", "c"]) expect(yield* allowed(client)).toBe(false);
          expect(yield* allowed("d")).toBe(true);
          expect(yield* allowed("a")).toBe(true);
          expect(yield* allowed("d")).toBe(false);
        }),
      ),
      rateLimiterMemory({ ...single, maxClients: 3 }),
    ),
  ));

test("rateLimiterMemory keeps debtors while other clients come and go, up to its bound", () =>
  Effect.runPromise(
    Effect.provide(
      RateLimiter.use((limiter) =>
        Effect.gen(function* () {
          const allowed = allowedBy(limiter);
          yield* limiter.charge("reads", "debtor", 4);
          for (let minute = 0; minute < 4; minute++) {
            expect(yield* allowed("debtor")).toBe(false);
            for (const n of [1, 2]) expect(yield* allowed(`${minute}/${n}`)).toBe(true);
            yield* TestClock.adjust(60_000);
          }
          expect(yield* allowed("debtor")).toBe(true);
          yield* limiter.charge("reads", "debtor", 4);
          // As many other clients at once as the limiter holds, so the oldest one is dropped.
          for (const n of [1, 2, 3]) expect(yield* allowed(`last/${n}`)).toBe(true);
          expect(yield* allowed("debtor")).toBe(true);
        }),
      ),
      Layer.merge(rateLimiterMemory({ ...single, maxClients: 3 }), patientClock()),
    ),
  ));

test("rateLimiterMemory ignores the wall clock", async () => {
  const systemClock = await Effect.runPromise(Clock.Clock);
  let wallMs = 1_700_000_000_000;
  const jumping: Clock.Clock = {
    sleep: (duration) => systemClock.sleep(duration),
    currentTimeMillisUnsafe: () => wallMs,
    currentTimeMillis: Effect.sync(() => wallMs),
    currentTimeNanosUnsafe: () => BigInt(wallMs) * 1_000_000n,
    currentTimeNanos: Effect.sync(() => BigInt(wallMs) * 1_000_000n),
    monotonicTimeNanosUnsafe: () => 5n,
    monotonicTimeNanos: Effect.succeed(5n),
  };
  const program = RateLimiter.use((limiter) =>
    Effect.gen(function* () {
      expect((yield* limiter.take("reads", "a", 1)).allowed).toBe(true);
      for (const jump of [3_600_000, -7_200_000]) {
        wallMs += jump;
        expect(yield* limiter.take("reads", "a", 1)).toMatchObject({
          allowed: false,
          resetSeconds: 60,
        });
      }
    }),
  );
  await Effect.runPromise(
    Effect.provideService(
      Effect.provide(program, rateLimiterMemory({ ...single, maxClients: 3 })),
      Clock.Clock,
      jumping,
    ),
  );
});
