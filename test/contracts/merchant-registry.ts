import { describe, expect, test } from "bun:test";
import { Effect, type Layer } from "effect";
import fc from "fast-check";
import { merchantStats } from "../../core/domain/merchant/merchant-stats.ts";
import type { Merchant } from "../../core/domain/merchant/merchant.ts";
import type { EscrowIndex } from "../../ports/escrow-index.ts";
import { anyMerchant, batchOf, escrowLives, finalBatch } from "../arbitraries/index-history.ts";
import { onFreshIndexes } from "./fresh-index.ts";

const fold = (text: string) => Array.from(text.normalize("NFC"), (c) => c.toLowerCase()).join("");
const earliestFirst = (a: Merchant, b: Merchant) =>
  a.registeredAt === b.registeredAt
    ? a.address < b.address
      ? -1
      : 1
    : Number(a.registeredAt - b.registeredAt);

/** Spellings of one name: in other case, composed and decomposed, in full width, and with a ligature. */
const SAME: ReadonlyArray<string> = [
  "Caf\u00e9 Stra\u00dfe 1",
  "CAFE\u0301 STRASSE 1",
  "caf\u00e9 strasse \uff11",
];

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
              [...newest.values()].sort(earliestFirst),
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

    test("pages of merchants hold each merchant once, the earliest registered first", () =>
      holds(
        fc
          .tuple(
            fc.uniqueArray(anyMerchant, { selector: (m) => m.address, maxLength: 3 }),
            fc.boolean(),
          )
          .map(([merchants, atOnce]) =>
            merchants.map((m) => ({ ...m, registeredAt: atOnce ? 5n : m.registeredAt })),
          ),
        (index, merchants) =>
          Effect.gen(function* () {
            yield* index.apply(
              batchOf([], { merchants: merchants.map((row) => ({ row, slot: 1n })) }),
            );
            const paged: typeof merchants = [];
            for (let more = true; more;) {
              const page = yield* index.merchants({}, 1, paged.at(-1) ?? null);
              paged.push(...page.map(({ merchant }) => merchant));
              more = page.length > 0;
            }
            expect(paged).toEqual(merchants.sort(earliestFirst));
          }),
      ));

    test("each merchant has the number of others with its name, whatever case, width and composition", () =>
      holds(
        fc
          .uniqueArray(anyMerchant, { selector: (m) => m.address, minLength: 3, maxLength: 3 })
          .chain((merchants) =>
            fc
              .array(fc.constantFrom(...SAME, "Café Straße 2", "CAFE STRASSE 1"), {
                minLength: 3,
                maxLength: 3,
              })
              .map((names) => merchants.map((m, at) => ({ ...m, name: names[at] ?? "" }))),
          ),
        (index, merchants) =>
          Effect.gen(function* () {
            yield* index.apply(
              batchOf([], { merchants: merchants.map((row) => ({ row, slot: 1n })) }),
            );
            const groupOf = (name: string) => (SAME.includes(name) ? "same" : name);
            for (const { merchant, sameName } of yield* index.merchants({}, 10, null)) {
              const others = merchants.filter(
                ({ address, name }) =>
                  address !== merchant.address && groupOf(name) === groupOf(merchant.name),
              );
              expect(sameName).toBe(others.length);
              expect(yield* index.sameNames(merchant.name, merchant.address)).toBe(others.length);
            }
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
