import { Effect, Layer } from "effect";
import { eventChainStart } from "../../core/domain/index/event-chain.ts";
import { type BatchResult, EscrowIndex, type IndexBatch } from "../../ports/escrow-index.ts";
import { addressBook } from "./address-book.ts";
import { applyEscrows } from "./apply-escrows.ts";
import { escrowPages } from "./escrow-pages.ts";
import { escrowTable } from "./escrow-table.ts";
import { eventPages } from "./event-pages.ts";
import { eventTable } from "./event-table.ts";
import { INDEX_APPLICATION_ID, INDEX_MIGRATIONS } from "./index-schema.ts";
import { claimLedger, type LedgerIdentity } from "./ledger-identity.ts";
import { merchantCounts } from "./merchant-counts.ts";
import { merchantPages, merchantTable } from "./merchant-table.ts";
import { merchantTally } from "./merchant-tally.ts";
import { openReader, openStore, refuseDamaged } from "./open-store.ts";
import { countChanges } from "./sighting-upsert.ts";
import { attempt, inTurns } from "./store-failure.ts";
import { storeRevision } from "./store-revision.ts";
import { syncMark } from "./sync-mark.ts";
import { writeTransactions } from "./write-transaction.ts";

/**
 * The index in one SQLite file, made where there is none. Building the layer fails when the file
 * is damaged, newer than this version, or of another ledger. Work on the file is synchronous: a
 * page takes a fraction of a millisecond. Batches are written on a connection of their own, a few
 * milliseconds at a time, so one of ten thousand rows holds up nobody until it is committed.
 */
export const escrowIndexSqlite = (options: LedgerIdentity & { readonly path: string }) =>
  Layer.effect(
    EscrowIndex,
    Effect.gen(function* () {
      const writer = yield* openStore(options.path, {
        applicationId: INDEX_APPLICATION_ID,
        migrations: INDEX_MIGRATIONS,
      });
      const refusal = yield* attempt(() => claimLedger(writer, options.path, options));
      if (refusal !== undefined) return yield* refusal;
      const reader = yield* openReader(options.path);

      const writerBook = addressBook(writer);
      const chainStart = eventChainStart(options.genesisHash, options.deployment);
      const tables = {
        book: writerBook,
        escrows: escrowTable(writer, writerBook),
        events: eventTable(writer, writerBook, chainStart),
        tally: merchantTally(writer),
      };
      const putMerchant = merchantTable(writer).put;
      const marked = syncMark(writer);
      const write = writeTransactions(writer, writerBook.forget);
      let isMarked = yield* attempt(() => marked.read() !== null);

      function* applying(batch: IndexBatch): Generator<void, BatchResult> {
        const { escrows, eventsAdded } = yield* applyEscrows(tables, batch);
        const merchants = countChanges(batch.merchants.map(putMerchant));
        for (const reference of batch.references ?? []) tables.events.refer(reference);
        if (batch.checkpoint !== null) marked.write(batch.checkpoint);
        return { escrows, merchants, eventsAdded };
      }

      const book = addressBook(reader);
      const escrows = escrowPages(reader, book);
      const merchants = merchantPages(reader);
      const events = eventPages(reader, book);
      const statsOf = merchantCounts(reader, book);
      const mark = syncMark(reader);
      const registry = reader.transaction((...query: Parameters<typeof merchants.page>) =>
        merchants.page(...query).map(({ merchant, sameName }) => ({
          merchant,
          sameName,
          stats: statsOf(merchant.wallet),
        })),
      );
      const revision = storeRevision(reader);
      const summary = reader.transaction(() => ({
        escrows: escrows.count(),
        merchants: merchants.count(),
        events: events.count(),
        checkpoint: mark.read(),
      }));

      return EscrowIndex.of({
        // Until the first mark no event is told, and what a power cut takes is read again; from then on
        // positions are known to readers, and must not come to stand for other events.
        apply: Effect.fn("EscrowIndex.apply")(function* (batch) {
          isMarked ||= batch.checkpoint !== null;
          return yield* write(() => applying(batch), { durable: isMarked });
        }),
        escrows: Effect.fn("EscrowIndex.escrows")((filter, limit, after) =>
          attempt(() => escrows.page(filter, limit, after)),
        ),
        escrowsAt: Effect.fn("EscrowIndex.escrowsAt")((addresses) =>
          attempt(() => escrows.at(addresses)),
        ),
        events: Effect.fn("EscrowIndex.events")((filter, limit, before) =>
          attempt(() => events.page(filter, limit, before)),
        ),
        eventsAfter: Effect.fn("EscrowIndex.eventsAfter")((filter, limit, after) =>
          attempt(() => events.after(filter, limit, after)),
        ),
        eventsWithoutReference: Effect.fn("EscrowIndex.eventsWithoutReference")((limit, after) =>
          inTurns(() => events.withoutReference(limit, after)),
        ),
        eventsOfEscrow: Effect.fn("EscrowIndex.eventsOfEscrow")((escrow) =>
          attempt(() => events.ofEscrow(escrow)),
        ),
        merchants: Effect.fn("EscrowIndex.merchants")((filter, limit, after) =>
          attempt(() => registry.deferred(filter, limit, after)),
        ),
        sameNames: Effect.fn("EscrowIndex.sameNames")((name, except) =>
          attempt(() => merchants.sameNames(name, except)),
        ),
        summary: Effect.withSpan(
          attempt(() => summary.deferred()),
          "EscrowIndex.summary",
        ),
        revision: attempt(revision),
      });
    }).pipe(refuseDamaged(options.path)),
  );
