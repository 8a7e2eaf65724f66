import { Effect, Layer } from "effect";
import { ArchivePeers, ImportedPackets } from "../../ports/index/archived-rows.ts";
import { BackfillCheckpoints } from "../../ports/index/index-writer.ts";
import { IndexNews, RebuildApprovals } from "../../ports/index/index-news.ts";
import { emptySpool, OpenSnapshotSpool } from "../../ports/index/snapshot-spool.ts";
import { LedgerArchive } from "../../ports/ledger/ledger-archive.ts";

/** The parts of a sync beside its stores and the ledger: none keeps, approves or offers anything. */
export const nothingKept = Layer.mergeAll(
  Layer.succeed(ArchivePeers, []),
  Layer.succeed(BackfillCheckpoints, { load: Effect.succeed(null), save: () => Effect.void }),
  Layer.succeed(ImportedPackets, { waiting: () => Effect.succeed([]), forget: () => Effect.void }),
  Layer.succeed(RebuildApprovals, Effect.succeed(null)),
  Layer.succeed(OpenSnapshotSpool, (tip) => Effect.succeed(emptySpool(tip))),
);

/** No node has an archive. */
export const noArchive = Layer.succeed(LedgerArchive, {
  transactionsOf: () => Effect.succeed(null),
});

/** Nobody tells of syncs, and readers look every 20 milliseconds. */
export const noNews = Layer.succeed(IndexNews, {
  next: Effect.never,
  tell: Effect.void,
  lookEveryMs: Effect.succeed(20),
});
