import { Queue, type Deferred, type Layer } from "effect";
import type { IndexSync } from "../../core/use-cases/index/sync/index-sync.ts";
import type { IndexNews } from "../../ports/index/index-news.ts";
import type { IndexReader } from "../../ports/index/index-reader.ts";
import type { Instance } from "../../ports/instance.ts";
import type { Ledger } from "../../ports/ledger/ledger.ts";
import type { LedgerArchive } from "../../ports/ledger/ledger-archive.ts";
import type { LedgerNodes } from "../../ports/ledger/ledger-nodes.ts";
import type { LogIdentity } from "../../ports/log/log-identity.ts";
import type { LogStore } from "../../ports/log/log-store.ts";
import type { OutcomeLog } from "../../ports/outcome-log.ts";
import type { SettledPackets } from "../../ports/settled-packets.ts";
import type { StartedInstance } from "../lifecycle/started-instance.ts";
import type { GrownMark } from "../syncing/grown-mark.ts";
import type { IndexRefused } from "./index-refused.ts";

/** The stores and the syncs on them. One that lacks a part does not compile. */
export type Storage = Layer.Layer<
  IndexReader | IndexNews | LogStore | LogIdentity | OutcomeLog | SettledPackets | IndexSync,
  never,
  Ledger | LedgerArchive | LedgerNodes | Instance
>;

/** Whose stores they are, and who learns of them. */
export type StorageParts = {
  readonly started: StartedInstance;
  /** Completes when a store turns out to be unusable. */
  readonly refused: Deferred.Deferred<never, IndexRefused>;
  /** Gets how far the index is complete after each sync. */
  readonly marks: Queue.Queue<GrownMark>;
};

/** Puts how far the index is complete into the queue. */
export const tellOf =
  ({ marks }: Pick<StorageParts, "marks">) =>
  (grown: GrownMark): void => {
    Queue.offerUnsafe(marks, grown);
  };
