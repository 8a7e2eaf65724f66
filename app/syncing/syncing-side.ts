import { Deferred, Effect, Layer } from "effect";
import { IndexSync, makeIndexSync } from "../../core/use-cases/index/sync/index-sync.ts";
import { snapshotSpoolFile } from "../../adapters/files/snapshot-spool.ts";
import { ledgerSignalsWebSocket } from "../../adapters/solana-rpc/transport/ledger-signals-web-socket.ts";
import { SyncEpoch } from "../../ports/index/sync-lease.ts";
import { backgroundSync } from "./background-sync.ts";
import type { GrownMark } from "./grown-mark.ts";
import {
  deploymentOf,
  programsOf,
  snapshotPath,
  type StartedInstance,
} from "../lifecycle/started-instance.ts";

/** What writes the index, where the stores' writers are: the one process or worker that syncs. `tell` learns of each completed sync. */
export const syncingSide = (started: StartedInstance, tell: (grown: GrownMark) => void) =>
  Layer.effect(
    IndexSync,
    makeIndexSync(
      (mark) => Effect.map(SyncEpoch, (epoch) => tell({ mark, epoch })),
      started.settings.scanEverySeconds === 0 ? null : started.settings.scanEverySeconds * 1000,
    ),
  ).pipe(
    Layer.provide(snapshotSpoolFile(snapshotPath(started.dataDir), deploymentOf(started.settings))),
  );

/** Runs what the syncing side does by itself, until it is interrupted. What ends it completes `refused`. */
export const runSyncingSide = <E>(
  { settings, webSocketUrl }: StartedInstance,
  refused: Deferred.Deferred<never, E>,
) =>
  backgroundSync(settings.syncIntervalSeconds).pipe(
    Effect.provide(ledgerSignalsWebSocket({ url: webSocketUrl, addresses: programsOf(settings) })),
    Effect.catchCause((cause) => Deferred.failCause(refused, cause)),
  );
