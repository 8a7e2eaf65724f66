import { Data } from "effect";
import type { SyncActivity } from "../../core/use-cases/index/sync/index-sync.ts";
import {
  StoreCorrupt,
  StoreOfAnotherLedger,
  StoreTooNew,
  StoreUnavailable,
} from "../../ports/index/store-refusal.ts";
import type { LogFormat } from "../lifecycle/logging.ts";
import { type StoresRefused, WrongLedger } from "../stores/stores-of-ledger.ts";
import type { GrownMark } from "../syncing/syncing-side.ts";

type Fields<E extends StoresRefused, Name extends keyof E> = Pick<E, Name | "_tag">;

/** A refusal as plain data: cloning an error for another thread loses its tag and fields. */
type PlainRefusal =
  | Fields<WrongLedger, "configured" | "found">
  | (Fields<StoreUnavailable, "retryable" | "store" | "fault"> & { readonly cause: string })
  | Fields<StoreTooNew, "store" | "found" | "supported">
  | Fields<StoreOfAnotherLedger, "store" | "differences">
  | Fields<StoreCorrupt, "store" | "reason">;

/** A refusal's fields; of its cause only the text. */
export const plainRefusal = (refusal: StoresRefused): PlainRefusal => {
  switch (refusal._tag) {
    case "WrongLedger": {
      const { _tag, configured, found } = refusal;
      return { _tag, configured, found };
    }
    case "StoreUnavailable": {
      const { _tag, retryable, cause, store, fault } = refusal;
      const text = cause instanceof Error ? cause.message : String(cause);
      return { _tag, retryable, cause: text, store, fault };
    }
    case "StoreTooNew": {
      const { _tag, store, found, supported } = refusal;
      return { _tag, store, found, supported };
    }
    case "StoreOfAnotherLedger": {
      const { _tag, store, differences } = refusal;
      return { _tag, store, differences };
    }
    case "StoreCorrupt": {
      const { _tag, store, reason } = refusal;
      return { _tag, store, reason };
    }
  }
};

/** The refusal whose fields these are. */
export const refusalOf = (plain: PlainRefusal): StoresRefused => {
  switch (plain._tag) {
    case "WrongLedger":
      return new WrongLedger(plain);
    case "StoreUnavailable":
      return new StoreUnavailable(plain);
    case "StoreTooNew":
      return new StoreTooNew(plain);
    case "StoreOfAnotherLedger":
      return new StoreOfAnotherLedger(plain);
    case "StoreCorrupt":
      return new StoreCorrupt(plain);
  }
};

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

/** The worker that syncs ended without being asked. Nothing brings the index up to the ledger any more. */
export class SyncWorkerEnded extends Data.TaggedError("SyncWorkerEnded")<{
  readonly reason: string;
}> {
  override get message() {
    return `The worker that syncs the index ended unexpectedly: ${this.reason}`;
  }
}
