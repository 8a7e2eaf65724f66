import { describe, expect, test } from "bun:test";
import { Effect } from "effect";
import fc from "fast-check";
import { ZERO_ADDRESS } from "../../core/domain/address.ts";
import { type Merchant, merchantStats } from "../../core/domain/merchant/merchant.ts";
import {
  anyMerchant,
  changesOf,
  escrowLives,
  eventCount,
  finalChanges,
  indexHistory,
  markAt,
} from "../arbitraries/index-history.ts";
import { type IndexLayer, onFreshIndexes } from "./fresh-index.ts";

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

/** The changes with which an empty index has these merchants and its first mark. */
const registering = (merchants: ReadonlyArray<Merchant>) =>
  changesOf({ merchants: merchants.map((row) => ({ row, slot: 1n })), mark: markAt([], 0n) });

/** What every index must do with merchants; see `indexStoreContract`. */
export const merchantRegistryContract = <E>(
  name: string,
  fresh: () => IndexLayer<E>,
  numRuns: number,
) => {
  const { holds } = onFreshIndexes(fresh, numRuns);

  describe(`${name} is a registry of merchants`, () => {
    test("a merchant's row is replaced by what is applied, with its slot", () =>
      holds(
        fc.array(fc.record({ row: anyMerchant, slot: fc.bigInt({ min: 1n, max: 30n }) }), {
          maxLength: 8,
        }),
        ({ reader, writer }, observations) =>
          Effect.gen(function* () {
            yield* writer.apply(changesOf({ mark: markAt([], 0n) }));
            for (const observed of observations)
              yield* writer.apply(changesOf({ from: 0n, merchants: [observed] }));
            const last = new Map(observations.map((one) => [one.row.address, one]));
            const stored = yield* writer.merchantsAt([...last.keys(), ZERO_ADDRESS]);
            expect(new Set(stored)).toEqual(new Set(last.values()));
            const entries = yield* reader.merchants({}, 1000, null);
            expect(entries.map(({ merchant }) => merchant)).toEqual(
              Array.from(last.values(), ({ row }) => row).sort(earliestFirst),
            );
            expect((yield* reader.summary).merchants).toBe(last.size);
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
        ({ reader, writer }, [merchants, status, minReputation, from, length]) =>
          Effect.gen(function* () {
            yield* writer.apply(registering(merchants));
            const texts = merchants.flatMap((m) => [m.name, m.address, m.wallet, m.attestor]);
            const source = Array.from(texts[from % Math.max(texts.length, 1)] ?? "x");
            const start = from % Math.max(source.length, 1);
            const part = source.slice(start, start + length).join("");
            for (const text of [undefined, part, part.toUpperCase(), `${part} ${part}`, "\n"]) {
              const found = yield* reader.merchants({ status, minReputation, text }, 10, null);
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
        ({ reader, writer }, merchants) =>
          Effect.gen(function* () {
            yield* writer.apply(registering(merchants));
            const paged: typeof merchants = [];
            for (let more = true; more;) {
              const page = yield* reader.merchants({}, 1, paged.at(-1) ?? null);
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
        ({ reader, writer }, merchants) =>
          Effect.gen(function* () {
            yield* writer.apply(registering(merchants));
            const groupOf = (name: string) => (SAME.includes(name) ? "same" : name);
            for (const { merchant, sameName } of yield* reader.merchants({}, 10, null)) {
              const others = merchants.filter(
                ({ address, name }) =>
                  address !== merchant.address && groupOf(name) === groupOf(merchant.name),
              );
              expect(sameName).toBe(others.length);
              expect(yield* reader.sameNames(merchant.name, merchant.address)).toBe(others.length);
            }
          }),
      ));

    test("a merchant's statistics are those of its escrows, after any history", () =>
      holds(fc.tuple(indexHistory, anyMerchant), ({ reader, writer }, [{ changes }, merchant]) =>
        Effect.gen(function* () {
          yield* writer.apply(registering([merchant]));
          for (const [at, change] of changes.entries())
            yield* writer.apply({ ...change, ...(at === 0 ? { from: 0n } : {}), merchants: [] });
          const [entry] = yield* reader.merchants({}, 1, null);
          const own = yield* reader.escrows({ merchant: merchant.wallet }, 1000, null);
          expect(entry?.stats).toEqual(merchantStats(own));
        }),
      ));

    test("a merchant's statistics are those of its escrows, after a build", () =>
      holds(fc.tuple(escrowLives(16), anyMerchant), ({ reader, writer }, [lives, merchant]) =>
        Effect.gen(function* () {
          const { escrows } = finalChanges(lives);
          yield* Effect.scoped(
            Effect.gen(function* () {
              const build = yield* writer.build;
              yield* build.add({ escrows, unseen: [], merchants: [{ row: merchant, slot: 1n }] });
              yield* build.finish(markAt(lives, eventCount(lives)));
            }),
          );
          const [entry] = yield* reader.merchants({}, 1, null);
          const own = escrows
            .map(({ escrow }) => escrow)
            .filter((escrow) => escrow.merchant === merchant.wallet);
          expect(entry?.stats).toEqual(merchantStats(own));
        }),
      ));
  });
};
