import { Deferred, Effect, Layer } from "effect";
import { IndexSync, makeIndexSync } from "../../core/use-cases/index/sync/index-sync.ts";
import { backfillCheckpointFile } from "../../adapters/files/backfill-checkpoint.ts";
import { snapshotSpoolFile } from "../../adapters/files/snapshot-spool.ts";
import { importedPacketFiles } from "../../adapters/files/imported-packets.ts";
import { archivePeersHttp } from "../../adapters/log-http/archive-peers-http.ts";
import { rebuildApprovalFile } from "../../adapters/files/rebuild-approval.ts";
import { SyncEpoch } from "../../ports/index/sync-lease.ts";
import { backgroundSync } from "./background-sync.ts";
import type { GrownMark } from "./grown-mark.ts";
import { signalsOfLedger } from "./signals-of-ledger.ts";
import {
  backfillPath,
  deploymentOf,
  snapshotPath,
  type StartedInstance,
} from "../lifecycle/started-instance.ts";

/** What writes the index, where the stores' writers are: the one process or worker that syncs. `tell` learns of each completed sync. */
export const syncingSide = (started: StartedInstance, tell: (grown: GrownMark) => void) => {
  const { dataDir, settings } = started;
  const seconds = settings.scanEverySeconds;
  const kept = Layer.mergeAll(
    rebuildApprovalFile(dataDir),
    snapshotSpoolFile(snapshotPath(dataDir), deploymentOf(settings)),
    backfillCheckpointFile(backfillPath(dataDir), deploymentOf(settings)),
    importedPacketFiles(dataDir),
    archivePeersHttp(settings.archivePeers),
  );
  return Layer.effect(
    IndexSync,
    makeIndexSync((mark) => Effect.map(SyncEpoch, (epoch) => tell({ mark, epoch })), {
      scanEveryMs: seconds === 0 ? null : seconds * 1000,
      backfills: true,
    }),
  ).pipe(Layer.provide(kept));
};

/** Runs what the syncing side does by itself, until it is interrupted. What ends it completes `refused`. */
export const runSyncingSide = <E>(started: StartedInstance, refused: Deferred.Deferred<never, E>) =>
  backgroundSync(started.settings.syncIntervalSeconds).pipe(
    Effect.provide(signalsOfLedger(started)),
    Effect.catchCause((cause) => Deferred.failCause(refused, cause)),
  );
