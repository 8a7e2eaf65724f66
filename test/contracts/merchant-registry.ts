import { describe, expect, test } from "bun:test";
import { Effect, type Layer } from "effect";
import fc from "fast-check";
import { merchantStats } from "../../core/domain/merchant/merchant-stats.ts";
import type { EscrowIndex } from "../../ports/escrow-index.ts";
import { anyMerchant, batchOf, escrowLives, finalBatch } from "../arbitraries/index-history.ts";
import { onFreshIndexes } from "./fresh-index.ts";

const fold = (text: string) => Array.from(text, (c) => c.toLowerCase()).join("");

/** What every index must do with merchants; see `escrowIndexContract`. */
export const merchantRegistryContract = <E>(
  name: string,
  fresh: () => Layer.Layer<EscrowIndex, E>,
  numRuns: number,
) => {
  const { holds } = onFreshIndexes(fresh, numRuns);

  describe(`${name} is a registry of merchants`, () => {
    test("observations of merchants in any order end with the newest", () =>
      holds(
        fc
          .uniqueArray(fc.record({ row: anyMerchant, slot: fc.bigInt({ min: 1n, max: 30n }) }), {
            selector: ({ slot }) => slot,
            maxLength: 8,
          })
          .map((observations) => [...observations, ...observations]),
        (index, merchants) =>
          Effect.gen(function* () {
            for (const observed of merchants) {
              yield* index.apply(batchOf([], { merchants: [observed] }));
            }
            const newest = new Map(
              merchants
                .toSorted((a, b) => Number(a.slot - b.slot))
                .map(({ row }) => [row.address, row]),
            );
            const entries = yield* index.merchants({}, 1000, null);
            expect(entries.map(({ merchant }) => merchant)).toEqual(
              [...newest.values()].sort((a, b) => (a.address < b.address ? -1 : 1)),
            );
          }),
      ));

    test("merchants are found by status, reputation and any part of name or address, ignoring case", () =>
      holds(
        fc.tuple(
          fc.uniqueArray(anyMerchant, { selector: (m) => m.address, maxLength: 3 }),
          fc.option(fc.constantFrom("Active" as const, "Suspended" as const), { nil: undefined }),
          fc.option(fc.integer({ min: 0, max: 10 }), { nil: undefined }),
          fc.nat(),
          fc.nat({ max: 4 }),
        ),
        (index, [merchants, status, minReputation, from, length]) =>
          Effect.gen(function* () {
            yield* index.apply(
              batchOf([], { merchants: merchants.map((row) => ({ row, slot: 1n })) }),
            );
            const texts = merchants.flatMap((m) => [m.name, m.address, m.wallet, m.attestor]);
            const source = Array.from(texts[from % Math.max(texts.length, 1)] ?? "x");
            const start = from % Math.max(source.length, 1);
            const part = source.slice(start, start + length).join("");
            for (const text of [undefined, part, part.toUpperCase(), `${part} ${part}`, "\n"]) {
              const found = yield* index.merchants({ status, minReputation, text }, 10, null);
              const expected = merchants.filter(
                (m) =>
                  (status ?? m.status) === m.status &&
                  m.reputation >= (minReputation ?? 0) &&
                  [m.name, m.wallet, m.address, m.attestor].some((field) =>
                    fold(field).includes(fold(text ?? "")),
                  ),
              );
              expect(new Set(found.map(({ merchant }) => merchant))).toEqual(new Set(expected));
            }
          }),
      ));

    test("pages of merchants hold each merchant once, by address", () =>
      holds(
        fc.uniqueArray(anyMerchant, { selector: (m) => m.address, maxLength: 3 }),
        (index, merchants) =>
          Effect.gen(function* () {
            yield* index.apply(
              batchOf([], { merchants: merchants.map((row) => ({ row, slot: 1n })) }),
            );
            const paged: typeof merchants = [];
            for (let more = true; more;) {
              const page = yield* index.merchants({}, 1, paged.at(-1)?.address ?? null);
              paged.push(...page.map(({ merchant }) => merchant));
              more = page.length > 0;
            }
            expect(paged).toEqual(merchants.sort((a, b) => (a.address < b.address ? -1 : 1)));
          }),
      ));

    test("a merchant's statistics are those of its escrows", () =>
      holds(fc.tuple(escrowLives(16), anyMerchant), (index, [lives, merchant]) =>
        Effect.gen(function* () {
          const batch = finalBatch(lives);
          yield* index.apply({ ...batch, merchants: [{ row: merchant, slot: 1n }] });
          const [entry] = yield* index.merchants({}, 1, null);
          const own = batch.escrows
            .map(({ row }) => row)
            .filter((escrow) => escrow.merchant === merchant.wallet);
          expect(entry?.stats).toEqual(merchantStats(own));
        }),
      ));
  });
};
