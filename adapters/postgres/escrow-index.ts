import { Effect, Layer } from "effect";
import { hash32FromBytes, hash32ToBytes } from "../../core/domain/hash32.ts";
import {
  type BatchResult,
  EscrowIndex,
  type IndexBatch,
  type IndexSummary,
  StoreUnavailable,
} from "../../ports/escrow-index.ts";
import { SyncEpoch } from "../../ports/sync-lease.ts";
import { escrowPage, escrowsAt, putEscrows } from "./escrow-table.ts";
import {
  appendEvents,
  eventPage,
  eventsOfEscrow,
  eventsWithoutReference,
  followEscrows,
  referEvents,
} from "./event-table.ts";
import { type LedgerIdentity, openClaimed } from "./ledger-identity.ts";
import { putMerchants, registryPage, sameNames } from "./merchant-table.ts";
import { type Queries, rowsOf } from "./queries.ts";
import { countChanges } from "./sighting-upsert.ts";

/** Why a batch was refused: the lease has passed to another replica meanwhile. */
const deposed = (epoch: bigint, current: bigint | undefined): StoreUnavailable =>
  new StoreUnavailable({
    retryable: true,
    cause: `a batch of term ${epoch} came in term ${current}: another replica syncs by now`,
  });

/**
 * Applies a batch within a transaction. The lock on the lease's row holds back a new term until this one's
 * batch has ended, and the lock on the ledger's row any other batch.
 */
const applyIn = async (sql: Queries, batch: IndexBatch, epoch: bigint): Promise<BatchResult> => {
  const [lease] = await rowsOf<{ epoch: bigint }>(
    sql,
    "SELECT epoch FROM sync_lease FOR KEY SHARE",
  );
  if (lease?.epoch !== epoch) throw deposed(epoch, lease?.epoch);
  const [ledger] = await rowsOf<{ events: bigint; chain_hash: Uint8Array }>(
    sql,
    "SELECT events, chain_hash FROM ledger FOR NO KEY UPDATE",
  );
  if (ledger === undefined)
    throw new Error("the store was claimed for its ledger when it was opened");
  const escrows = await putEscrows(sql, batch.escrows);
  const merchants = await putMerchants(sql, batch.merchants);
  await followEscrows(sql, escrows.updated);
  const end = await appendEvents(sql, batch.events, {
    position: ledger.events,
    chainHash: hash32FromBytes(ledger.chain_hash),
  });
  await referEvents(sql, batch.references ?? []);
  await rowsOf(
    sql,
    `UPDATE ledger SET escrows = escrows + $1, merchants = merchants + $2, events = $3, chain_hash = $4`,
    [escrows.created.length, merchants.created.length, end.position, hash32ToBytes(end.chainHash)],
  );
  if (batch.checkpoint !== null) {
    const { slot, ledgerTime, atMs } = batch.checkpoint;
    await rowsOf(
      sql,
      `UPDATE ledger SET mark_slot = $1::numeric, mark_ledger_time = $2, mark_at_ms = $3
       WHERE mark_slot IS NULL OR mark_slot <= $1::numeric`,
      [slot, ledgerTime, Math.trunc(atMs)],
    );
  }
  return {
    escrows: countChanges(batch.escrows.length, escrows),
    merchants: countChanges(batch.merchants.length, merchants),
    eventsAdded: Number(end.position - ledger.events),
  };
};

type SummaryRow = {
  readonly escrows: bigint;
  readonly merchants: bigint;
  readonly events: bigint;
  readonly mark_slot: string | null;
  readonly mark_ledger_time: bigint | null;
  readonly mark_at_ms: bigint | null;
};

const summaryIn = async (sql: Queries): Promise<IndexSummary> => {
  const [row] = await rowsOf<SummaryRow>(sql, "SELECT * FROM ledger");
  return {
    escrows: Number(row?.escrows ?? 0),
    merchants: Number(row?.merchants ?? 0),
    events: Number(row?.events ?? 0),
    checkpoint:
      row && row.mark_slot !== null && row.mark_ledger_time !== null
        ? {
            slot: BigInt(row.mark_slot),
            ledgerTime: row.mark_ledger_time,
            atMs: Number(row.mark_at_ms),
          }
        : null,
  };
};

/**
 * The index in a Postgres database that several replicas may share. Building the layer fails when the
 * schema is newer than this version or of another ledger.
 */
export const escrowIndexPostgres = (identity: LedgerIdentity) =>
  Layer.effect(
    EscrowIndex,
    Effect.gen(function* () {
      const store = yield* openClaimed(identity);
      return EscrowIndex.of({
        apply: Effect.fn("EscrowIndex.apply")(function* (batch) {
          const epoch = yield* SyncEpoch;
          return yield* store.run((sql) => sql.begin((step) => applyIn(step, batch, epoch)));
        }),
        escrows: Effect.fn("EscrowIndex.escrows")((filter, limit, after) =>
          store.run((sql) => escrowPage(sql, filter, limit, after)),
        ),
        escrowsAt: Effect.fn("EscrowIndex.escrowsAt")((addresses) =>
          store.run((sql) => escrowsAt(sql, addresses)),
        ),
        events: Effect.fn("EscrowIndex.events")((filter, limit, before) =>
          store.run((sql) => eventPage(sql, filter, limit, { before })),
        ),
        eventsAfter: Effect.fn("EscrowIndex.eventsAfter")((filter, limit, after) =>
          store.run((sql) => eventPage(sql, filter, limit, { after })),
        ),
        eventsWithoutReference: Effect.fn("EscrowIndex.eventsWithoutReference")((limit, after) =>
          store.run((sql) => eventsWithoutReference(sql, limit, after)),
        ),
        eventsOfEscrow: Effect.fn("EscrowIndex.eventsOfEscrow")((escrow) =>
          store.run((sql) => eventsOfEscrow(sql, escrow)),
        ),
        merchants: Effect.fn("EscrowIndex.merchants")((filter, limit, after) =>
          store.run((sql) => registryPage(sql, filter, limit, after)),
        ),
        sameNames: Effect.fn("EscrowIndex.sameNames")((name, except) =>
          store.run((sql) => sameNames(sql, name, except)),
        ),
        summary: Effect.withSpan(store.run(summaryIn), "EscrowIndex.summary"),
        // Asking costs a round trip, which is most of what a page costs.
        revision: Effect.succeed(null),
      });
    }),
  );
