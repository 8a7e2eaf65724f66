import { expect, test } from "bun:test";
import { Effect, Scope } from "effect";
import { TestClock } from "effect/testing";
import { addressFromBytes } from "../../../../core/domain/address.ts";
import { makeTransactionTerms } from "../../../../core/use-cases/service/transaction-terms.ts";
import { Blockspace } from "../../../../ports/ledger/blockspace.ts";
import { Instance } from "../../../../ports/instance.ts";
import { testInstance } from "../test-instance.ts";
import { patientClock } from "../../../doubles/patient-clock.ts";

/** Terms over a node that counts its questions and names these prices. */
const termsOver = (prices: ReadonlyArray<bigint>) => {
  let asked = 0;
  const blockspace = Blockspace.of({
    latestBlockhash: Effect.sync(() => {
      asked += 1;
      return {
        blockhash: addressFromBytes(new Uint8Array(32).fill(asked)),
        lastValidBlockHeight: 150n,
        slot: 1n,
      };
    }),
    recentPrices: () => Effect.succeed(prices),
  });
  const run = <A>(
    use: (terms: Effect.Success<typeof makeTransactionTerms>) => Effect.Effect<A, unknown>,
  ) =>
    Effect.runPromise(
      Effect.flatMap(makeTransactionTerms, use).pipe(
        Effect.provideService(Blockspace, blockspace),
        Effect.provideService(Instance, testInstance()),
        Effect.provideServiceEffect(Scope.Scope, Scope.make()),
        Effect.provide(patientClock()),
      ),
    );
  return { run, asked: () => asked };
};

test("callers within one second share one answer of the node", async () => {
  const { run, asked } = termsOver([]);
  const [first, second, third] = await run((terms) =>
    Effect.gen(function* () {
      const both = yield* Effect.all([terms.read, terms.read], { concurrency: "unbounded" });
      yield* TestClock.adjust(999);
      const late = yield* terms.read;
      yield* TestClock.adjust(1);
      return [both[0], late, yield* terms.read];
    }),
  );
  expect(second?.blockhash).toBe(first?.blockhash ?? "");
  expect(third?.blockhash).not.toBe(first?.blockhash ?? "");
  expect(asked()).toBe(2);
});

test.each([
  { prices: [], usualPrice: 0n, urgentPrice: 0n },
  { prices: [7n], usualPrice: 7n, urgentPrice: 7n },
  { prices: [9n, 0n, 3n, 1n, 2n], usualPrice: 3n, urgentPrice: 9n },
  { prices: [2n ** 60n, 1n], usualPrice: 1n, urgentPrice: 5_000_000n },
])(
  "of the prices $prices the usual one is $usualPrice and the urgent one $urgentPrice",
  async ({ prices, ...expected }) => {
    const { run } = termsOver(prices);
    expect(await run((terms) => terms.read)).toMatchObject(expected);
  },
);
