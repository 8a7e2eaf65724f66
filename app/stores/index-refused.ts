import type { LogRefused } from "../../core/use-cases/log/signing/open-log.ts";
import type { MintDecimalsDiffer } from "../check-mints.ts";
import type { StoresRefused } from "./stores-of-ledger.ts";
import type { SyncWorkerEnded } from "../sync-worker/messages.ts";

/** How the index cannot be used or brought up to the ledger, at start or later. */
export type IndexRefused = StoresRefused | MintDecimalsDiffer | LogRefused | SyncWorkerEnded;
