import type { SyncActivity } from "../../core/use-cases/index/sync/index-sync.ts";
import type { GrownMark } from "../syncing/grown-mark.ts";
import type { LogFormat } from "../lifecycle/logging.ts";
import type { PlainRefusal } from "./plain-refusal.ts";

/** What the start has found. The worker reads the settings from its environment itself. */
export type SyncStart = {
  readonly dataDir: string;
  /** They may hold API keys. They never leave the process. */
  readonly rpcUrls: readonly [string, ...ReadonlyArray<string>];
  readonly webSocketUrl: string;
  readonly startedAtMs: number;
  /** The default depends on the terminal, which a worker does not see. */
  readonly logFormat: LogFormat;
};

/** From the service to the worker. `start` comes first. */
export type ToSyncWorker =
  | { readonly kind: "start"; readonly start: SyncStart }
  /** A sync, or one with a snapshot. */
  | { readonly kind: "sync" | "snapshot"; readonly id: number }
  | { readonly kind: "stop" };

/** From the worker to the service. */
export type FromSyncWorker =
  | { readonly kind: "log"; readonly line: string }
  /** The stores are made, so that readers can open them. */
  | { readonly kind: "opened" }
  /** What keeps the stores from opening, at each try. */
  | { readonly kind: "hindered"; readonly hindrance: PlainRefusal }
  | { readonly kind: "activity"; readonly activity: SyncActivity }
  /** A sync is complete to this mark. */
  | { readonly kind: "grown"; readonly grown: GrownMark }
  /** A sync's outcome (`encodeOutcome`), null when a bug ended it. */
  | { readonly kind: "synced"; readonly id: number; readonly outcome: string | null }
  | { readonly kind: "refused"; readonly refusal: PlainRefusal }
  | { readonly kind: "stopped" };
