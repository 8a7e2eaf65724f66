import { describe, expect, test } from "bun:test";
import { Effect, type Layer, Schedule } from "effect";
import fc from "fast-check";
import { addressFromBytes } from "../../core/domain/address.ts";
import { ledgerSignatureFromBytes } from "../../core/domain/ledger/signature.ts";
import type { RelayEntry, FinalOutcome } from "../../core/domain/relay/relay-entry.ts";
import { type KeyUse, OutcomeLog } from "../../ports/outcome-log.ts";
import { runs } from "../arbitraries/runs.ts";

type Log = OutcomeLog["Service"];

const entryOf = (n: number, other: Partial<RelayEntry> = {}): RelayEntry => ({
  signature: ledgerSignatureFromBytes(new Uint8Array(64).fill(n)),
  transaction: Uint8Array.of(0, 255, n),
  feePayer: addressFromBytes(new Uint8Array(32).fill(n)),
  lastValidBlockHeight: 2n ** 53n + BigInt(n),
  openedAtSlot: 2n ** 54n + 1n,
  openedAtMs: 1_767_225_600_000 + n,
  outcome: null,
  ...other,
});

const LANDED: FinalOutcome = {
  status: "landed",
  slot: 2n ** 60n + 1n,
  error: {
    kind: "InstructionError",
    instructionIndex: 2,
    instructionError: "Custom",
    customCode: 6024,
  },
};
const EXPIRED: FinalOutcome = {
  status: "expired",
  blockHeight: 2n ** 61n + 1n,
  supersededBy: ledgerSignatureFromBytes(new Uint8Array(64).fill(77)),
};

const useOf = (other: Partial<KeyUse> = {}): KeyUse => ({
  client: "192.0.2.1",
  key: "order-1",
  fingerprint: "aa",
  nowMs: 1_000_000,
  forgottenBeforeMs: 0,
  ...other,
});

/**
 * What every log must do. `fresh` gives the layer of a new, empty log each time, and `lives` one that opens the same
 * log at each build, as the starts of a service do; without it nothing outlives the layer.
 */
export const outcomeLogContract = <E>(
  name: string,
  fresh: () => Layer.Layer<OutcomeLog, E>,
  lives?: () => Layer.Layer<OutcomeLog, E>,
): void => {
  const withLog = <A, F>(use: (log: Log) => Effect.Effect<A, F>): Promise<A> =>
    Effect.runPromise(Effect.provide(OutcomeLog.use(use), fresh()));

  describe(`${name}: entries`, () => {
    test("an unknown signature has no entry", () =>
      withLog((log) =>
        Effect.gen(function* () {
          expect(yield* log.find(entryOf(1).signature)).toBeNull();
          expect(yield* log.unresolved(10)).toEqual([]);
          yield* log.resolve(entryOf(1).signature, EXPIRED);
          expect(yield* log.find(entryOf(1).signature)).toBeNull();
        }),
      ));

    test("a trial keeps nothing, and leaves what was opened before as it is", () =>
      withLog((log) =>
        Effect.gen(function* () {
          const [entry, other] = [entryOf(1), entryOf(2)];
          yield* log.tryOpen(entry);
          expect(yield* log.find(entry.signature)).toBeNull();
          expect(yield* log.open(entry)).toBe(true);
          yield* log.tryOpen({ ...entry, lastValidBlockHeight: 1n });
          yield* log.tryOpen(other);
          expect(yield* log.unresolved(10)).toEqual([entry]);
        }),
      ));

    test("an entry is found as it was opened, and can be opened only once", () =>
      withLog((log) =>
        Effect.gen(function* () {
          const entry = entryOf(1);
          expect(yield* log.open(entry)).toBe(true);
          expect(yield* log.open({ ...entry, lastValidBlockHeight: 1n })).toBe(false);
          expect(yield* log.find(entry.signature)).toEqual(entry);
        }),
      ));

    test.each([LANDED, { ...LANDED, error: null }, EXPIRED, { ...LANDED, nodes: 2 }])(
      "an outcome is kept for ever: %p",
      (outcome) =>
        withLog((log) =>
          Effect.gen(function* () {
            const entry = entryOf(1);
            yield* log.open(entry);
            yield* log.resolve(entry.signature, outcome);
            yield* log.resolve(entry.signature, outcome === EXPIRED ? LANDED : EXPIRED);
            expect(yield* log.find(entry.signature)).toEqual({ ...entry, outcome });
            expect(yield* log.open(entry)).toBe(false);
            expect(yield* log.unresolved(10)).toEqual([]);
          }),
        ),
    );

    test("unresolved entries come oldest first, up to the limit", () =>
      withLog((log) =>
        Effect.gen(function* () {
          for (const n of [3, 1, 2, 4]) yield* log.open(entryOf(n));
          yield* log.resolve(entryOf(2).signature, LANDED);
          expect(yield* log.unresolved(2)).toEqual([entryOf(1), entryOf(3)]);
          expect(yield* log.unresolved(10)).toHaveLength(3);
        }),
      ));

    test("a hundred simultaneous opens of one signature make one entry", () =>
      withLog((log) =>
        Effect.gen(function* () {
          const opened = yield* Effect.all(
            Array.from({ length: 100 }, () => log.open(entryOf(1))),
            { concurrency: "unbounded" },
          );
          expect(opened.filter(Boolean)).toHaveLength(1);
        }),
      ));

    test("any sequence of opens and resolutions ends as in a plain map", async () => {
      const steps = fc.array(
        fc.record({
          n: fc.nat({ max: 5 }),
          step: fc.constantFrom("open", "landed", "expired" as const),
        }),
        { maxLength: 20 },
      );
      await fc.assert(
        fc.asyncProperty(steps, (sequence) =>
          withLog((log) =>
            Effect.gen(function* () {
              const model = new Map<number, RelayEntry>();
              for (const { n, step } of sequence) {
                const entry = model.get(n);
                if (step === "open") {
                  expect(yield* log.open(entryOf(n))).toBe(entry === undefined);
                  if (entry === undefined) model.set(n, entryOf(n));
                } else {
                  const outcome = step === "landed" ? LANDED : EXPIRED;
                  yield* log.resolve(entryOf(n).signature, outcome);
                  if (entry?.outcome === null) model.set(n, { ...entry, outcome });
                }
              }
              for (const [n, entry] of model)
                expect(yield* log.find(entryOf(n).signature)).toEqual(entry);
              const open = [...model.values()].filter(({ outcome }) => outcome === null);
              expect(yield* log.unresolved(10)).toHaveLength(open.length);
            }),
          ),
        ),
        runs(20),
      );
    });
  });

  describe(`${name}: idempotency keys`, () => {
    test("the first use claims, the next is in flight, and later ones get the recorded answer", () =>
      withLog((log) =>
        Effect.gen(function* () {
          expect(yield* log.claimKey(useOf())).toEqual({ status: "claimed" });
          expect(yield* log.claimKey(useOf())).toEqual({ status: "in_flight" });
          yield* log.answerKey(useOf(), '{"a":"\u00e4\\u0000"}');
          expect(yield* log.claimKey(useOf())).toEqual({
            status: "answered",
            answer: '{"a":"\u00e4\\u0000"}',
          });
        }),
      ));

    test("another request under the same key is refused, in flight and afterwards", () =>
      withLog((log) =>
        Effect.gen(function* () {
          yield* log.claimKey(useOf());
          const other = useOf({ fingerprint: "bb" });
          expect(yield* log.claimKey(other)).toEqual({ status: "reused" });
          yield* log.answerKey(useOf(), "1");
          expect(yield* log.claimKey(other)).toEqual({ status: "reused" });
        }),
      ));

    test("clients do not see each other's keys", () =>
      withLog((log) =>
        Effect.gen(function* () {
          yield* log.claimKey(useOf());
          const other = useOf({ client: "192.0.2.2", fingerprint: "bb" });
          expect(yield* log.claimKey(other)).toEqual({ status: "claimed" });
        }),
      ));

    test("a released key is free, for another request too", () =>
      withLog((log) =>
        Effect.gen(function* () {
          yield* log.claimKey(useOf());
          yield* log.answerKey(useOf(), null);
          expect(yield* log.claimKey(useOf({ fingerprint: "bb" }))).toEqual({ status: "claimed" });
        }),
      ));

    test("a use is in flight as long as its instance lives, however long that takes", () =>
      withLog((log) =>
        Effect.gen(function* () {
          yield* log.claimKey(useOf({ nowMs: 100 }));
          expect(yield* log.claimKey(useOf({ nowMs: 80_000_000 }))).toEqual({
            status: "in_flight",
          });
        }),
      ));

    test.if(lives !== undefined)(
      "the use of an instance that has ended is free for the same request alone, and its answers stay",
      async () => {
        const log = lives?.() ?? fresh();
        const inLife = <A, F>(use: (log: Log) => Effect.Effect<A, F>) =>
          Effect.runPromise(Effect.provide(OutcomeLog.use(use), log, { local: true }));
        await inLife((first) =>
          Effect.gen(function* () {
            yield* first.claimKey(useOf());
            yield* first.claimKey(useOf({ key: "order-2" }));
            yield* first.answerKey(useOf({ key: "order-2" }), "2");
          }),
        );
        await inLife((second) =>
          Effect.gen(function* () {
            const other = useOf({ fingerprint: "bb" });
            expect(yield* second.claimKey(other)).toEqual({ status: "reused" });
            // Where instances live side by side, it takes its time until one counts as ended.
            yield* second.claimKey(useOf()).pipe(
              Effect.repeat({
                schedule: Schedule.spaced("20 millis"),
                until: ({ status }) => status === "claimed",
              }),
            );
            expect(yield* second.claimKey(useOf())).toEqual({ status: "in_flight" });
            expect(yield* second.claimKey(other)).toEqual({ status: "reused" });
            const answered = yield* second.claimKey(useOf({ key: "order-2" }));
            expect(answered).toEqual({ status: "answered", answer: "2" });
          }),
        );
      },
    );

    test("an old use and its answer are forgotten", () =>
      withLog((log) =>
        Effect.gen(function* () {
          yield* log.claimKey(useOf({ nowMs: 100 }));
          yield* log.answerKey(useOf(), "1");
          const later = useOf({ fingerprint: "bb", nowMs: 300, forgottenBeforeMs: 101 });
          expect(yield* log.claimKey(later)).toEqual({ status: "claimed" });
        }),
      ));

    test("only one of a hundred simultaneous uses claims", () =>
      withLog((log) =>
        Effect.gen(function* () {
          const claims = yield* Effect.all(
            Array.from({ length: 100 }, () => log.claimKey(useOf())),
            { concurrency: "unbounded" },
          );
          expect(claims.filter(({ status }) => status === "claimed")).toHaveLength(1);
          expect(claims.filter(({ status }) => status === "in_flight")).toHaveLength(99);
        }),
      ));
  });
};
