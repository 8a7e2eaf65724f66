import { describe, expect, test } from "bun:test";
import { Context, Effect, Layer, Schedule } from "effect";
import { outcomeLogPostgres } from "../../../adapters/postgres/outcome-log.ts";
import { type KeyUse, OutcomeLog } from "../../../ports/outcome-log.ts";
import { outcomeLogContract } from "../../contracts/outcome-log.ts";
import { aside, freshSchema, storeAt, TEST_LEDGER } from "./test-database.ts";

const logAt = (url: URL) => outcomeLogPostgres(TEST_LEDGER).pipe(Layer.provide(storeAt(url)));

describe("outcomeLogPostgres is an outcome log", () =>
  outcomeLogContract(
    "outcomeLogPostgres",
    () => logAt(freshSchema()),
    () => logAt(freshSchema()),
  ));

const USE: KeyUse = {
  client: "192.0.2.1",
  key: "order-1",
  fingerprint: "aa",
  nowMs: 1_000_000,
  forgottenBeforeMs: 0,
};

test("a claim is held for as long as its replica lives, and only that one releases it", () => {
  const url = freshSchema();
  const heldUntil = Effect.promise(async () => {
    const [rows] = await aside(url, "SELECT held_until::text AS at FROM idempotency_key");
    return (rows?.[0] as { readonly at: string } | undefined)?.at ?? null;
  });
  return Effect.gen(function* () {
    const [one, other] = yield* Effect.all([Layer.build(logAt(url)), Layer.build(logAt(url))]);
    const inOne = <A, E>(use: (log: OutcomeLog["Service"]) => Effect.Effect<A, E>) =>
      Effect.provide(OutcomeLog.use(use), one);
    const inOther = <A, E>(use: (log: OutcomeLog["Service"]) => Effect.Effect<A, E>) =>
      Effect.provide(OutcomeLog.use(use), other);
    expect(yield* inOne((log) => log.claimKey(USE))).toEqual({ status: "claimed" });
    const first = yield* heldUntil;
    yield* Effect.repeat(heldUntil, {
      schedule: Schedule.spaced("50 millis"),
      until: (at) => at !== first,
    });
    expect(yield* inOther((log) => log.claimKey(USE))).toEqual({ status: "in_flight" });
    yield* inOther((log) => log.answerKey(USE, null));
    expect(yield* inOther((log) => log.claimKey(USE))).toEqual({ status: "in_flight" });
    yield* inOne((log) => log.answerKey(USE, "1"));
    const answered = yield* inOther((log) => log.claimKey(USE));
    expect(answered).toEqual({ status: "answered", answer: "1" });
  }).pipe(Effect.scoped, Effect.runPromise);
});

/** Ends every claim, as three seconds without a renewal do. */
const endClaims = (url: URL) =>
  Effect.promise(() => aside(url, "UPDATE idempotency_key SET held_until = '-infinity'"));

test("a replica whose claim has run out while its request goes on does not take it over itself", () => {
  const url = freshSchema();
  return Effect.gen(function* () {
    const log = yield* OutcomeLog;
    expect(yield* log.claimKey(USE)).toEqual({ status: "claimed" });
    yield* endClaims(url);
    expect(yield* log.claimKey(USE)).toEqual({ status: "in_flight" });
    yield* log.answerKey(USE, null);
    expect(yield* log.claimKey(USE)).toEqual({ status: "claimed" });
  }).pipe(Effect.provide(logAt(url)), Effect.runPromise);
});

test("the late answer of a claim that others have taken over and freed is not that of the next request", () => {
  const url = freshSchema();
  return Effect.gen(function* () {
    const [one, other] = (yield* Effect.all([
      Layer.build(logAt(url)),
      Layer.build(logAt(url)),
    ])).map((built) => Context.get(built, OutcomeLog));
    if (one === undefined || other === undefined) throw new Error("two were built");
    expect(yield* one.claimKey(USE)).toEqual({ status: "claimed" });
    yield* endClaims(url);
    expect(yield* other.claimKey(USE)).toEqual({ status: "claimed" });
    yield* other.answerKey(USE, null);
    const next = { ...USE, fingerprint: "bb" };
    expect(yield* other.claimKey(next)).toEqual({ status: "claimed" });
    yield* one.answerKey(USE, "late");
    expect(yield* one.claimKey(next)).toEqual({ status: "in_flight" });
    yield* other.answerKey(next, "its own");
    expect(yield* one.claimKey(next)).toEqual({ status: "answered", answer: "its own" });
  }).pipe(Effect.scoped, Effect.runPromise);
});
