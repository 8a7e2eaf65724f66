import { describe, expect, test } from "bun:test";
import { Effect, type Layer } from "effect";
import fc from "fast-check";
import { escrowIndexMemory } from "../../adapters/memory/escrow-index.ts";
import { type Escrow, ESCROW_STATES, isRefundable } from "../../core/domain/escrow/escrow.ts";
import { chainedEventHash, eventChainStart } from "../../core/domain/index/event-chain.ts";
import { ledgerSignatureFromBytes } from "../../core/domain/ledger/signature.ts";
import { eventsOf } from "../../core/domain/index/settlement-event.ts";
import { EscrowIndex, type EscrowFilter, type EscrowCursor } from "../../ports/escrow-index.ts";
import {
  aMerchantWallet,
  anAgent,
  anyMerchant,
  batchOf,
  escrowLife,
  escrowLives,
  finalBatch,
  indexHistory,
} from "../arbitraries/index-history.ts";
import { TEST_DEPLOYMENT, TEST_GENESIS_HASH } from "../arbitraries/test-ledger.ts";
import { onFreshIndexes } from "./fresh-index.ts";
import { merchantRegistryContract } from "./merchant-registry.ts";

type Index = EscrowIndex["Service"];

const filters: fc.Arbitrary<EscrowFilter> = fc.record({
  agentOwner: fc.option(anAgent, { nil: undefined }),
  merchant: fc.option(aMerchantWallet, { nil: undefined }),
  state: fc.option(fc.constantFrom(...ESCROW_STATES), { nil: undefined }),
  refundableAt: fc.option(fc.bigInt({ min: 1_700_000_000n, max: 1_700_000_010n }), {
    nil: undefined,
  }),
});

/** All rows of every page. */
const allEscrows = (index: Index, filter: EscrowFilter, limit: number) =>
  Effect.gen(function* () {
    const all: Array<Escrow> = [];
    let after: EscrowCursor | null = null;
    for (;;) {
      const page: ReadonlyArray<Escrow> = yield* index.escrows(filter, limit, after);
      expect(page.length).toBeLessThanOrEqual(limit);
      all.push(...page);
      after = page.at(-1) ?? null;
      if (after === null) return all;
    }
  });

const allEvents = (index: Index) => index.events({}, 1000, null);

/** Everything that a reader can see of an index. */
const everything = (index: Index) =>
  Effect.all({
    escrows: index.escrows({}, 1000, null),
    events: allEvents(index),
    forward: index.eventsAfter({}, 1000, 0n),
    unreferenced: index.eventsWithoutReference(1000, 0n),
    merchants: index.merchants({}, 1000, null),
    summary: index.summary,
  });

const before = (a: Escrow, b: Escrow) =>
  a.createdAt === b.createdAt ? a.address > b.address : a.createdAt > b.createdAt;

/**
 * What every index must do, including its registry of merchants. Each call of `fresh` returns the layer of a new, empty
 * index of the test ledger. A property uses `numRuns` of them.
 */
export const escrowIndexContract = <E>(
  name: string,
  fresh: () => Layer.Layer<EscrowIndex, E>,
  numRuns: number,
) => {
  const { withIndex, holds } = onFreshIndexes(fresh, numRuns);

  describe(`${name} is an escrow index`, () => {
    test("stored escrows are found by their addresses, others are not", () =>
      holds(fc.tuple(escrowLives(6), fc.nat()), (index, [lives, seed]) =>
        Effect.gen(function* () {
          const latest = lives.map((life) => life.at(-1) ?? life[0]);
          const isStored = (_: unknown, at: number) => ((seed >> at) & 1) === 1;
          const stored = latest.filter(isStored);
          yield* index.apply(finalBatch(lives.filter(isStored)));
          const addresses = latest.map(({ address }) => address);
          expect(new Set(yield* index.escrowsAt(addresses))).toEqual(new Set(stored));
          expect(yield* index.escrowsAt([])).toEqual([]);
        }),
      ));

    test("an empty index has no rows and was never synced", () =>
      withIndex((index) =>
        Effect.gen(function* () {
          expect(yield* everything(index)).toEqual({
            escrows: [],
            events: [],
            forward: [],
            unreferenced: [],
            merchants: [],
            summary: {
              escrows: 0,
              merchants: 0,
              events: 0,
              checkpoint: null,
            },
          });
        }),
      ));

    test("applied rows are read back in every field, with any u64", () =>
      holds(fc.tuple(escrowLives(8), anyMerchant), (index, [lives, merchant]) =>
        Effect.gen(function* () {
          const batch = finalBatch(lives);
          const checkpoint = { slot: 7n, ledgerTime: 1_700_000_000n, atMs: 1_700_000_000_123 };
          const applied = yield* index.apply({
            ...batch,
            merchants: [{ row: merchant, slot: 5n }],
            checkpoint,
          });
          expect(applied).toEqual({
            escrows: { created: lives.length, updated: 0, unchanged: 0 },
            merchants: { created: 1, updated: 0, unchanged: 0 },
            eventsAdded: batch.events.length,
          });
          const rows = yield* index.escrows({}, 1000, null);
          expect(new Set(rows)).toEqual(new Set(batch.escrows.map(({ row }) => row)));
          const events = yield* allEvents(index);
          expect(events.toReversed().map(({ event }) => event)).toEqual([...batch.events]);
          const [entry] = yield* index.merchants({}, 1000, null);
          expect(entry?.merchant).toEqual(merchant);
          expect(yield* index.summary).toEqual({
            escrows: lives.length,
            merchants: 1,
            events: batch.events.length,
            checkpoint,
          });
        }),
      ));

    test("any history gives the same as the index in memory", () =>
      holds(indexHistory, (index, history) =>
        Effect.gen(function* () {
          const results = yield* Effect.forEach(history, index.apply);
          const seen = yield* everything(index);
          const reference = yield* Effect.provide(
            EscrowIndex.use((memory) =>
              Effect.all([Effect.forEach(history, memory.apply), everything(memory)]),
            ),
            escrowIndexMemory({ genesisHash: TEST_GENESIS_HASH, deployment: TEST_DEPLOYMENT }),
          );
          expect([results, seen]).toEqual(reference);
        }),
      ));

    test("the revision changes with every write, when the index has one", () =>
      holds(indexHistory, (index, history) =>
        Effect.gen(function* () {
          for (const batch of history) {
            const [before, revision] = [yield* everything(index), yield* index.revision];
            yield* index.apply(batch);
            if (revision === null || (yield* index.revision) !== revision) continue;
            expect(yield* everything(index)).toEqual(before);
          }
        }),
      ));

    test("an escrow's own events are read in the order they were added", () =>
      holds(indexHistory, (index, history) =>
        Effect.gen(function* () {
          for (const batch of history) yield* index.apply(batch);
          const all = (yield* allEvents(index)).toReversed();
          for (const { address } of yield* index.escrows({}, 1000, null))
            expect(yield* index.eventsOfEscrow(address)).toEqual(
              all.filter(({ event }) => event.escrow === address),
            );
          expect(yield* index.eventsOfEscrow(TEST_DEPLOYMENT.custodyProgram)).toEqual([]);
        }),
      ));

    test("applying a batch a second time changes nothing", () =>
      holds(indexHistory, (index, history) =>
        Effect.gen(function* () {
          for (const batch of history) {
            yield* index.apply(batch);
            const first = yield* everything(index);
            expect((yield* index.apply(batch)).eventsAdded).toBe(0);
            expect(yield* everything(index)).toEqual(first);
          }
        }),
      ));

    test("a settled escrow never changes, at whatever slot it is observed", () =>
      holds(
        escrowLife.filter((life) => life.length > 1),
        (index, [pending, settled = pending]) =>
          Effect.gen(function* () {
            const at = (row: Escrow, slot: bigint) => index.apply(batchOf([{ row, slot }]));
            yield* at(pending, 5n);
            expect((yield* at(settled, 4n)).escrows.unchanged).toBe(1);
            expect(yield* index.escrows({}, 10, null)).toEqual([pending]);
            expect((yield* at(settled, 5n)).escrows.updated).toBe(1);
            const forged: Escrow = { ...settled, rentPayer: settled.merchant };
            const otherwise: Escrow = { ...forged, state: "Refunded", attestation: null };
            for (const late of [pending, forged, otherwise]) {
              expect(yield* at(late, 9n)).toEqual({
                escrows: { created: 0, updated: 0, unchanged: 1 },
                merchants: { created: 0, updated: 0, unchanged: 0 },
                eventsAdded: 0,
              });
            }
            expect(yield* index.escrows({}, 10, null)).toEqual([settled]);
            const events = yield* allEvents(index);
            expect(events.toReversed().map(({ event }) => event)).toEqual([...eventsOf(settled)]);
          }),
      ));

    test("an older checkpoint does not turn the index back", () =>
      withIndex((index) =>
        Effect.gen(function* () {
          const checkpoint = { slot: 9n, ledgerTime: 90n, atMs: 900 };
          yield* index.apply(batchOf([], { checkpoint }));
          yield* index.apply(batchOf([], { checkpoint: { slot: 8n, ledgerTime: 99n, atMs: 999 } }));
          yield* index.apply(batchOf([]));
          expect((yield* index.summary).checkpoint).toEqual(checkpoint);
        }),
      ));

    test("pages hold every escrow of a filter once, newest first", () =>
      holds(
        fc.tuple(escrowLives(12), filters, fc.integer({ min: 1, max: 5 })),
        (index, [lives, filter, limit]) =>
          Effect.gen(function* () {
            const batch = finalBatch(lives);
            yield* index.apply(batch);
            const expected = batch.escrows
              .map(({ row }) => row)
              .filter(
                (e) =>
                  (filter.agentOwner ?? e.agentOwner) === e.agentOwner &&
                  (filter.merchant ?? e.merchant) === e.merchant &&
                  (filter.state ?? e.state) === e.state &&
                  (filter.refundableAt === undefined || isRefundable(e, filter.refundableAt)),
              )
              .sort((a, b) => (before(a, b) ? -1 : 1));
            expect(yield* allEscrows(index, filter, limit)).toEqual(expected);
          }),
      ));

    test("pages hold every event of a filter once, newest first", () =>
      holds(
        fc.tuple(escrowLives(12), filters, fc.integer({ min: 1, max: 5 })),
        (index, [lives, filter, limit]) =>
          Effect.gen(function* () {
            const batch = finalBatch(lives);
            yield* index.apply(batch);
            const rows = new Map(batch.escrows.map(({ row }) => [row.address, row]));
            const expected = (yield* allEvents(index)).filter(({ event }) => {
              const escrow = rows.get(event.escrow);
              return (
                (filter.agentOwner ?? event.agentOwner) === event.agentOwner &&
                (filter.merchant ?? event.merchant) === event.merchant &&
                (filter.state ?? event.state) === event.state &&
                (filter.refundableAt === undefined ||
                  (escrow !== undefined && isRefundable(escrow, filter.refundableAt)))
              );
            });
            const paged = [];
            for (let before: bigint | null = null; ;) {
              const page: typeof expected = [...(yield* index.events(filter, limit, before))];
              expect(page.length).toBeLessThanOrEqual(limit);
              paged.push(...page);
              before = page.at(-1)?.position ?? null;
              if (before === null) break;
            }
            expect(paged).toEqual(expected);
          }),
      ));

    test("events are read forward as they are backward, above any position", () =>
      holds(
        fc.tuple(escrowLives(12), filters, fc.integer({ min: 1, max: 5 })),
        (index, [lives, filter, limit]) =>
          Effect.gen(function* () {
            yield* index.apply(finalBatch(lives));
            const expected = (yield* index.events(filter, 1000, null)).toReversed();
            const streamed = [];
            for (let after = 0n; ;) {
              const page: typeof expected = [...(yield* index.eventsAfter(filter, limit, after))];
              expect(page.length).toBeLessThanOrEqual(limit);
              streamed.push(...page);
              const last = page.at(-1);
              if (last === undefined) break;
              after = last.position;
            }
            expect(streamed).toEqual(expected);
          }),
      ));

    test("an event takes the first transaction that is found for it, at any time, and none of its other fields change", () =>
      holds(fc.tuple(indexHistory, escrowLife), (index, [history, [escrow]]) =>
        Effect.gen(function* () {
          for (const batch of history) yield* index.apply(batch);
          yield* index.apply(batchOf([{ row: escrow, slot: 1n }]));
          const before = (yield* allEvents(index)).find(
            ({ event }) => event.escrow === escrow.address && event.kind === "escrow_created",
          );
          const reference = (fill: number, slot: bigint) => ({
            escrow: escrow.address,
            kind: "escrow_created" as const,
            signature: ledgerSignatureFromBytes(new Uint8Array(64).fill(fill)),
            slot,
          });
          const [first, second] = [reference(1, 2n ** 62n), reference(2, 6n)];
          yield* index.apply(batchOf([], { references: [first] }));
          yield* index.apply(batchOf([], { references: [second, first] }));
          const after = (yield* allEvents(index)).find(
            ({ position }) => position === before?.position,
          );
          const { signature, slot } = before?.signature ? before : first;
          expect(after).toEqual(before && { ...before, signature, slot });
          const missing = yield* index.eventsWithoutReference(1000, 0n);
          expect(missing).toEqual(
            (yield* index.eventsAfter({}, 1000, 0n)).filter((one) => one.signature === null),
          );
          expect(yield* index.eventsWithoutReference(1, missing[0]?.position ?? 0n)).toEqual(
            missing.slice(1, 2),
          );
        }),
      ));

    test("events have no gaps and chain from the ledger's start, after any history", () =>
      holds(indexHistory, (index, history) =>
        Effect.gen(function* () {
          for (const batch of history) yield* index.apply(batch);
          let link = eventChainStart(TEST_GENESIS_HASH, TEST_DEPLOYMENT);
          const events = (yield* allEvents(index)).toReversed();
          for (const [at, { event, position, chainHash }] of events.entries()) {
            expect(position).toBe(BigInt(at + 1));
            link = chainedEventHash(link, event);
            expect(chainHash).toBe(link);
          }
          expect(new Set(events.map(({ event }) => event.id)).size).toBe(events.length);
        }),
      ));

    test("an index has exactly the events that its rows prove, after any history", () =>
      holds(indexHistory, (index, history) =>
        Effect.gen(function* () {
          for (const batch of history) yield* index.apply(batch);
          const rows = yield* index.escrows({}, 1000, null);
          const events = (yield* allEvents(index)).map(({ event }) => event);
          expect(new Set(events)).toEqual(new Set(rows.flatMap(eventsOf)));
        }),
      ));

    test("an event of an escrow that the index lacks is skipped", () =>
      holds(escrowLife, (index, [escrow]) =>
        Effect.gen(function* () {
          const batch = batchOf([{ row: escrow, slot: 1n }]);
          expect((yield* index.apply({ ...batch, escrows: [] })).eventsAdded).toBe(0);
          expect((yield* index.apply(batch)).eventsAdded).toBe(1);
        }),
      ));
  });
  merchantRegistryContract(name, fresh, numRuns);
};
