import { Effect, Layer } from "effect";
import type { Address } from "../../core/domain/address.ts";
import type { Escrow } from "../../core/domain/escrow.ts";
import { eventChainStart } from "../../core/domain/event-chain.ts";
import {
  type BatchResult,
  EscrowIndex,
  type IndexBatch,
  type Sighted,
} from "../../ports/escrow-index.ts";
import { escrowTable } from "./escrow-table.ts";
import { eventTable } from "./event-table.ts";
import { INDEX_APPLICATION_ID, INDEX_MIGRATIONS } from "./index-schema.ts";
import { claimLedger, type LedgerIdentity } from "./ledger-identity.ts";
import { merchantCounts } from "./merchant-counts.ts";
import { merchantTable } from "./merchant-table.ts";
import { openStore } from "./open-store.ts";
import { countChanges } from "./sighting-upsert.ts";
import { attempt } from "./store-failure.ts";
import { syncMark } from "./sync-mark.ts";

/**
 * The index in one SQLite file, made where there is none. Building the layer fails when the file
 * is damaged, newer than this version, or of another ledger. Work on the file is synchronous: a
 * page takes a fraction of a millisecond, and a batch blocks the process for 50 to 100 microseconds
 * a new row, so a sync's batches should stay at a thousand rows or so.
 */
export const escrowIndexSqlite = (options: LedgerIdentity & { readonly path: string }) =>
  Layer.effect(
    EscrowIndex,
    Effect.gen(function* () {
      const db = yield* openStore(options.path, {
        applicationId: INDEX_APPLICATION_ID,
        migrations: INDEX_MIGRATIONS,
      });
      const refusal = yield* attempt(() => claimLedger(db, options.path, options));
      if (refusal !== undefined) return yield* refusal;

      const escrows = escrowTable(db);
      const merchants = merchantTable(db);
      const events = eventTable(db, eventChainStart(options.genesisHash, options.deployment));
      const statsOf = merchantCounts(db);
      const mark = syncMark(db);

      const apply = db.transaction((batch: IndexBatch): BatchResult => {
        const fresh = new Map<Address, Escrow>();
        const put = (sighted: Sighted<Escrow>) => {
          const { row } = sighted;
          const change = escrows.put(sighted);
          if (change === "created" || (change === "updated" && fresh.has(row.address)))
            fresh.set(row.address, row);
          else if (change === "updated") events.follow(row.address, row);
          return change;
        };
        const result = {
          escrows: countChanges(batch.escrows.map(put)),
          merchants: countChanges(batch.merchants.map(merchants.put)),
          eventsAdded: events.append(batch.events, escrows.standing, fresh),
        };
        for (const reference of batch.references ?? []) events.refer(reference);
        if (batch.mark !== null) mark.write(batch.mark);
        return result;
      });
      const registry = db.transaction((...query: Parameters<typeof merchants.page>) =>
        merchants.page(...query).map((merchant) => ({ merchant, stats: statsOf(merchant.wallet) })),
      );
      const summary = db.transaction(() => ({
        escrows: escrows.count(),
        merchants: merchants.count(),
        events: events.count(),
        mark: mark.read(),
      }));

      return EscrowIndex.of({
        apply: Effect.fn("EscrowIndex.apply")((batch) => attempt(() => apply.immediate(batch))),
        escrows: Effect.fn("EscrowIndex.escrows")((filter, limit, after) =>
          attempt(() => escrows.page(filter, limit, after)),
        ),
        events: Effect.fn("EscrowIndex.events")((filter, limit, before) =>
          attempt(() => events.page(filter, limit, before)),
        ),
        eventsAfter: Effect.fn("EscrowIndex.eventsAfter")((filter, limit, after) =>
          attempt(() => events.after(filter, limit, after)),
        ),
        eventsWithoutReference: Effect.fn("EscrowIndex.eventsWithoutReference")((limit, after) =>
          attempt(() => events.withoutReference(limit, after)),
        ),
        eventsOfEscrow: Effect.fn("EscrowIndex.eventsOfEscrow")((escrow) =>
          attempt(() => events.ofEscrow(escrow)),
        ),
        merchants: Effect.fn("EscrowIndex.merchants")((filter, limit, after) =>
          attempt(() => registry.deferred(filter, limit, after)),
        ),
        summary: Effect.withSpan(
          attempt(() => summary.deferred()),
          "EscrowIndex.summary",
        ),
      });
    }),
  );
