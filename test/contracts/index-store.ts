import { describe, expect, test } from "bun:test";
import { Effect } from "effect";
import fc from "fast-check";
import { indexMemory } from "../../adapters/memory/index-store.ts";
import { type Escrow, ESCROW_STATES, isRefundable } from "../../core/domain/escrow/escrow.ts";
import type { IndexedEvent } from "../../core/domain/index/settlement-event.ts";
import { hash32FromBytes } from "../../core/domain/hash32.ts";
import { ledgerSignatureFromBytes } from "../../core/domain/ledger/signature.ts";
import { indexedEventsOf } from "../../core/log/leaf/indexed-leaves.ts";
import type { EscrowFilter, EventFilter } from "../../ports/index/index-reader.ts";
import type { StoreUnavailable } from "../../ports/index/store-refusal.ts";
import {
  aMerchantWallet,
  anAgent,
  anyMerchant,
  changesOf,
  changesTo,
  type EscrowLife,
  escrowLives,
  eventCount,
  finalChanges,
  indexHistory,
  leavesAt,
  markAt,
  rowsAt,
  unseenOf,
} from "../arbitraries/index-history.ts";
import { TEST_DEPLOYMENT } from "../arbitraries/test-ledger.ts";
import { type Index, type IndexLayer, onFreshIndexes, withIndexOf } from "./fresh-index.ts";
import { indexBuildContract } from "./index-build.ts";
import { everything } from "./index-content.ts";
import { logStoreContract } from "./log-store.ts";
import { merchantRegistryContract } from "./merchant-registry.ts";

const filters: fc.Arbitrary<EscrowFilter> = fc
  .record({
    agentOwner: fc.option(anAgent, { nil: undefined }),
    merchant: fc.option(aMerchantWallet, { nil: undefined }),
    state: fc.option(fc.constantFrom(...ESCROW_STATES), { nil: undefined }),
    refundableAt: fc.option(fc.bigInt({ min: 1_700_000_000n, max: 1_700_000_010n }), {
      nil: undefined,
    }),
    expiresAfter: fc.option(fc.bigInt({ min: 1_700_000_000n, max: 1_700_000_010n }), {
      nil: undefined,
    }),
  })
  .map(({ expiresAfter, ...filter }) =>
    filter.refundableAt === undefined ? filter : { ...filter, expiresAfter },
  );

const passes = (filter: EscrowFilter, escrow: Escrow) =>
  (filter.agentOwner ?? escrow.agentOwner) === escrow.agentOwner &&
  (filter.merchant ?? escrow.merchant) === escrow.merchant &&
  (filter.state ?? escrow.state) === escrow.state &&
  (filter.refundableAt === undefined || isRefundable(escrow, filter.refundableAt)) &&
  (filter.expiresAfter === undefined || escrow.expiresAt > filter.expiresAfter);

/** The events of lives in their last state, oldest first, that a filter lets through. */
const eventsOfLives = (lives: ReadonlyArray<EscrowLife>, filter: EventFilter) =>
  rowsAt(lives, eventCount(lives))
    .filter((row) => passes({ ...filter, state: undefined }, row.escrow))
    .flatMap((row) => indexedEventsOf(row, () => undefined))
    .filter(({ event }) => (filter.state ?? event.state) === event.state)
    .filter(({ event }) => (filter.escrow ?? event.escrow) === event.escrow)
    .sort((a, b) => (a.position < b.position ? -1 : 1));

/** How changes are refused, null when they are applied. */
const refusalOf = (applied: Effect.Effect<void, StoreUnavailable>) =>
  Effect.match(applied, { onFailure: (refusal) => refusal, onSuccess: () => null });

/**
 * What every store of an index must do: its reads, its writes and the log's store. Each call of `fresh` returns the
 * layer of a new, empty index of the test ledger. A property uses `numRuns` of them.
 */
export const indexStoreContract = <E>(
  name: string,
  fresh: () => IndexLayer<E>,
  numRuns: number,
) => {
  const { withIndex, holds } = onFreshIndexes(fresh, numRuns);

  describe(`${name} is an index`, () => {
    test("an empty index has no rows and no mark", () =>
      withIndex((index) =>
        Effect.gen(function* () {
          expect(yield* everything(index)).toEqual({
            escrows: [],
            events: [],
            forward: [],
            untold: [],
            merchants: [],
            unseen: [],
            leaves: [],
            summary: { escrows: 0, unseen: 0, merchants: 0, mark: null },
          });
        }),
      ));

    test("applied rows are read back in every field, with any u64", () =>
      holds(fc.tuple(escrowLives(8), anyMerchant), (index, [lives, merchant]) =>
        Effect.gen(function* () {
          const changes = finalChanges(lives);
          yield* index.writer.apply({ ...changes, merchants: [{ row: merchant, slot: 5n }] });
          const seen = yield* everything(index);
          const rows = changes.escrows.map(({ escrow }) => escrow);
          expect(seen.escrows).toEqual(rows.toReversed());
          expect(seen.forward).toEqual(eventsOfLives(lives, {}));
          expect(seen.events).toEqual(seen.forward.toReversed());
          expect(seen.merchants.map((entry) => entry.merchant)).toEqual([merchant]);
          expect(seen.summary).toEqual({
            escrows: lives.length,
            unseen: 0,
            merchants: 1,
            mark: changes.mark,
          });
          expect(yield* index.writer.merchantsAt([merchant.address])).toEqual([
            { row: merchant, slot: 5n },
          ]);
        }),
      ));

    test("stored escrows are found by their addresses, unseen ones too, others are not", () =>
      holds(fc.tuple(escrowLives(6), fc.nat()), (index, [lives, seed]) =>
        Effect.gen(function* () {
          const changes = finalChanges(lives);
          const isHidden = (at: number) => ((seed >> at) & 1) === 1;
          const hidden = new Set(
            changes.escrows.filter((_, at) => isHidden(at)).map(({ escrow }) => escrow.createdSeq),
          );
          yield* index.writer.apply(changesTo(lives, null, eventCount(lives), hidden));
          const rows = changes.escrows.map(({ escrow }) => escrow);
          const addresses = [...rows.map(({ address }) => address), TEST_DEPLOYMENT.custodyProgram];
          const found = yield* index.reader.escrowsAt(addresses);
          expect(new Set(found.escrows)).toEqual(
            new Set(rows.filter(({ createdSeq }) => !hidden.has(createdSeq))),
          );
          expect(new Set(found.unseen)).toEqual(
            new Set(
              changes.escrows
                .filter(({ escrow }) => hidden.has(escrow.createdSeq))
                .map((row) => unseenOf(row)),
            ),
          );
          expect(yield* index.reader.escrowsAt([])).toEqual({ escrows: [], unseen: [] });
        }),
      ));

    test("escrows are found by their task's hash and by their proof's, newest first", () =>
      holds(escrowLives(8), (index, lives) =>
        Effect.gen(function* () {
          const changes = finalChanges(lives);
          yield* index.writer.apply(changes);
          const rows = changes.escrows.map(({ escrow }) => escrow).toReversed();
          const hashes = new Set(
            rows.flatMap(({ taskHash, attestation }) =>
              attestation === null ? [taskHash] : [taskHash, attestation.proofHash],
            ),
          );
          for (const hash of hashes) {
            const having = rows.filter(
              (row) => row.taskHash === hash || row.attestation?.proofHash === hash,
            );
            expect(yield* index.reader.escrowsOfHash(hash, 8)).toEqual(having);
            expect(yield* index.reader.escrowsOfHash(hash, 1)).toEqual(having.slice(0, 1));
          }
          const other = hash32FromBytes(new Uint8Array(32).fill(7));
          expect(yield* index.reader.escrowsOfHash(other, 8)).toEqual([]);
        }),
      ));

    test("any history ends with the rows of its last event", () =>
      holds(indexHistory, (index, { lives, changes, hidden }) =>
        Effect.gen(function* () {
          for (const change of changes) yield* index.writer.apply(change);
          const count = eventCount(lives);
          const rows = rowsAt(lives, count);
          const isHidden = ({ escrow }: (typeof rows)[number]) => hidden.has(escrow.createdSeq);
          const seen = yield* everything(index);
          expect(seen.escrows.toReversed()).toEqual(
            rows.filter((row) => !isHidden(row)).map(({ escrow }) => escrow),
          );
          expect(seen.unseen).toEqual(rows.filter(isHidden).map(unseenOf));
          expect(seen.leaves).toEqual(leavesAt(lives, count).map((leaf) => leaf.toHex()));
          expect(seen.summary.mark).toEqual(markAt(lives, count));
        }),
      ));

    test("any history gives the same as the index in memory, after each of its changes", () =>
      holds(indexHistory, (index, { changes }) =>
        Effect.gen(function* () {
          const states = (of: Index) =>
            Effect.forEach(changes, (change) =>
              Effect.andThen(of.writer.apply(change), everything(of)),
            );
          const found = yield* states(index);
          expect(found).toEqual(yield* withIndexOf(indexMemory(), states));
        }),
      ));

    test("changes decided on another mark are refused whole, to be tried again", () =>
      holds(fc.tuple(indexHistory, escrowLives(3, 1)), (index, [{ changes, lives }, others]) =>
        Effect.gen(function* () {
          for (const change of changes) yield* index.writer.apply(change);
          const count = eventCount(lives);
          const before = yield* everything(index);
          for (const from of [null, count + 1n, count - 1n]) {
            const late = { ...finalChanges(others), from };
            const refused = yield* refusalOf(index.writer.apply(late));
            expect(refused).toMatchObject({ _tag: "StoreUnavailable", retryable: true });
            expect(yield* everything(index)).toEqual(before);
          }
        }),
      ));

    test("changes that continue a mark are refused while there is none", () =>
      withIndex((index) =>
        Effect.gen(function* () {
          const refused = yield* refusalOf(index.writer.apply(changesOf({ from: 0n })));
          expect(refused).toMatchObject({ retryable: true });
        }),
      ));

    test("applying what has been applied changes nothing", () =>
      holds(indexHistory, (index, { changes }) =>
        Effect.gen(function* () {
          for (const change of changes) {
            yield* index.writer.apply(change);
            const first = yield* everything(index);
            const from = first.summary.mark?.count ?? null;
            yield* index.writer.apply({ ...change, from });
            expect(yield* everything(index)).toEqual(first);
          }
        }),
      ));

    test("the revision changes with every write that shows, where there is one", () =>
      holds(indexHistory, (index, { changes }) =>
        Effect.gen(function* () {
          for (const change of changes) {
            const before = yield* everything(index);
            const { revision } = yield* index.reader.summary;
            yield* index.writer.apply(change);
            const after = yield* index.reader.summary;
            if (revision === null || after.revision !== revision) continue;
            expect(yield* everything(index)).toEqual(before);
          }
        }),
      ));

    test("pages hold every escrow of a filter once, newest first", () =>
      holds(
        fc.tuple(escrowLives(12), filters, fc.integer({ min: 1, max: 5 })),
        ({ reader, writer }, [lives, filter, limit]) =>
          Effect.gen(function* () {
            yield* writer.apply(finalChanges(lives));
            const paged: Array<Escrow> = [];
            for (let before: bigint | null = null; ;) {
              const page: ReadonlyArray<Escrow> = yield* reader.escrows(filter, limit, before);
              expect(page.length).toBeLessThanOrEqual(limit);
              paged.push(...page);
              before = page.at(-1)?.createdSeq ?? null;
              if (before === null) break;
            }
            expect(paged).toEqual(
              rowsAt(lives, eventCount(lives))
                .map(({ escrow }) => escrow)
                .filter((escrow) => passes(filter, escrow))
                .toReversed(),
            );
          }),
      ));

    test("pages hold every event of a filter once, backward and forward", () =>
      holds(
        fc.tuple(escrowLives(12), filters, fc.integer({ min: 1, max: 5 })),
        ({ reader, writer }, [lives, filter, limit]) =>
          Effect.gen(function* () {
            yield* writer.apply(finalChanges(lives));
            const expected = eventsOfLives(lives, filter);
            const backward: Array<IndexedEvent> = [];
            for (let before: bigint | null = null; ;) {
              const page: ReadonlyArray<IndexedEvent> = yield* reader.events(filter, limit, {
                before,
              });
              expect(page.length).toBeLessThanOrEqual(limit);
              backward.push(...page);
              before = page.at(-1)?.position ?? null;
              if (before === null) break;
            }
            expect(backward.toReversed()).toEqual(expected);
            const forward: Array<IndexedEvent> = [];
            for (let after = 0n; ;) {
              const page: ReadonlyArray<IndexedEvent> = yield* reader.events(filter, limit, {
                after,
              });
              expect(page.length).toBeLessThanOrEqual(limit);
              forward.push(...page);
              const last = page.at(-1);
              if (last === undefined) break;
              after = last.position;
            }
            expect(forward).toEqual(expected);
          }),
      ));

    test("an escrow's own events are read in both directions, alone and with other filters", () =>
      holds(fc.tuple(escrowLives(6), filters), ({ reader, writer }, [lives, filter]) =>
        Effect.gen(function* () {
          yield* writer.apply(finalChanges(lives));
          const unknown = TEST_DEPLOYMENT.custodyProgram;
          for (const escrow of [...lives.map(([{ address }]) => address), unknown])
            for (const own of [{ escrow }, { ...filter, escrow }]) {
              const expected = eventsOfLives(lives, own);
              expect(yield* reader.events(own, 10, { after: 0n })).toEqual(expected);
              expect(yield* reader.events(own, 10, { before: null })).toEqual(
                expected.toReversed(),
              );
            }
        }),
      ));

    test("an event keeps the first transaction that is found for it, and nothing else of it changes", () =>
      holds(escrowLives(4, 1), ({ reader, writer }, lives) =>
        Effect.gen(function* () {
          const from = eventCount(lives);
          yield* writer.apply(finalChanges(lives));
          const before = yield* reader.events({}, 100, { after: 0n });
          const of = (position: bigint, fill: number) => ({
            position,
            signature: ledgerSignatureFromBytes(new Uint8Array(64).fill(fill)),
            slot: 2n ** 62n + BigInt(fill),
          });
          const [first, second] = [of(from, 1), of(from, 2)];
          yield* writer.apply(changesOf({ from, transactions: [first, second] }));
          yield* writer.apply(changesOf({ from, transactions: [second] }));
          const { signature, slot } = first;
          expect(yield* reader.events({}, 100, { after: 0n })).toEqual(
            before.map((one) => (one.position === from ? { ...one, signature, slot } : one)),
          );
          const without = { withoutTransaction: true } as const;
          const others = before.filter(({ position }) => position !== from);
          expect(yield* reader.events(without, 100, { after: 0n })).toEqual(others);
          expect(yield* reader.events(without, 100, { before: null })).toEqual(others.toReversed());
          expect(yield* reader.events(without, 1, { after: 1n })).toEqual(
            others.filter(({ position }) => position > 1n).slice(0, 1),
          );
        }),
      ));

    test("unseen escrows are read in pages, ascending", () =>
      holds(
        fc.tuple(escrowLives(10), fc.integer({ min: 1, max: 4 })),
        ({ writer }, [lives, limit]) =>
          Effect.gen(function* () {
            const rows = rowsAt(lives, eventCount(lives)).map(unseenOf);
            const hidden = new Set(rows.map(({ createdSeq }) => createdSeq));
            yield* writer.apply(changesTo(lives, null, eventCount(lives), hidden));
            const paged: Array<(typeof rows)[number]> = [];
            for (let after = 0n; ;) {
              const page: ReadonlyArray<(typeof rows)[number]> = yield* writer.unseen(limit, after);
              paged.push(...page);
              const last = page.at(-1);
              if (last === undefined) break;
              after = last.createdSeq;
            }
            expect(paged).toEqual(rows);
          }),
      ));

    test("changes without a mark leave the index's mark, another replaces it", () =>
      withIndex(({ reader, writer }) =>
        Effect.gen(function* () {
          const mark = markAt([], 0n);
          yield* writer.apply(changesOf({ mark }));
          yield* writer.apply(changesOf({ from: 0n }));
          expect((yield* reader.summary).mark).toEqual(mark);
          const paceFrom = { slot: 2n ** 61n, atMs: 2 ** 44 };
          const later = { ...mark, slot: 2n ** 62n, ledgerTime: 5n, atMs: 2 ** 45, paceFrom };
          yield* writer.apply(changesOf({ from: 0n, mark: later }));
          expect((yield* reader.summary).mark).toEqual(later);
        }),
      ));
  });
  indexBuildContract(name, fresh, numRuns);
  logStoreContract(name, fresh, numRuns);
  merchantRegistryContract(name, fresh, numRuns);
};
