import type { LedgerIdentity } from "../../adapters/sql/ledger-identity.ts";
import { recordedGenesis } from "../../adapters/sqlite/ledger-identity.ts";
import { isDamage } from "../../adapters/sqlite/store-failure.ts";
import { StoreCorrupt, type StoreUnavailable } from "../../ports/index/store-refusal.ts";
import {
  deploymentOf,
  logFolder,
  type StartedInstance,
  storePath,
} from "../lifecycle/started-instance.ts";
import type { StoreName } from "./stores-of-ledger.ts";

/** The ledger and programs that an instance's stores belong to. */
export const ledgerIdentity = (
  { settings }: StartedInstance,
  genesisHash: string,
): LedgerIdentity => ({ genesisHash, deployment: deploymentOf(settings) });

/** Where an instance keeps its index and the log's tiles. */
export const sqliteIndex = (started: StartedInstance, genesisHash: string) => ({
  ...ledgerIdentity(started, genesisHash),
  path: storePath(started.dataDir, "index"),
  logFolder: logFolder(started.dataDir),
});

/** The genesis hash that an instance's index has recorded, null without one. */
export const recordedBySqlite = (started: StartedInstance) =>
  recordedGenesis(storePath(started.dataDir, "index"));

/** Where an instance keeps the relay's log. */
export const relaySqlite = (started: StartedInstance, genesisHash: string) => ({
  ...ledgerIdentity(started, genesisHash),
  path: storePath(started.dataDir, "relay"),
});

/** Why a SQLite store that was open can never be used again, undefined for any other failure. */
export const sqliteBroken =
  ({ dataDir }: StartedInstance) =>
  (store: StoreName, { cause }: StoreUnavailable): StoreCorrupt | undefined =>
    isDamage(cause)
      ? new StoreCorrupt({ store: storePath(dataDir, store), reason: "it is damaged", cause })
      : undefined;
