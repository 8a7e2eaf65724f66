import { Effect } from "effect";
import { believedBytes } from "../../../protocol/accounts/last-bytes.ts";
import type { ArchivedBytes } from "../../../protocol/transaction/archived-bytes.ts";
import { EscrowIndex } from "../../../../ports/escrow-index.ts";
import { Instance } from "../../../../ports/instance.ts";
import type { IndexAccounts } from "./index-accounts.ts";
import type { SyncMemory } from "./sync-memory.ts";

/** Addresses asked of the store at once. */
const ROWS_AT_ONCE = 1000;

/**
 * Sorts the tombstones that `accounts` has gathered. A settled row stays as it is. For a missing or Pending one
 * `accounts` keeps the escrow in those of the `offered` bytes that hash to the tombstone, to be written; without any,
 * `searchArchived` looks for them. Fails like the store.
 */
export const gatherArchived = Effect.fn("gatherArchived")(function* (
  accounts: IndexAccounts,
  memory: SyncMemory,
  offered: ReadonlyArray<ArchivedBytes> = [],
) {
  const index = yield* EscrowIndex;
  const { deployment } = yield* Instance;
  const found = accounts.takeArchived();
  const offeredFor = Map.groupBy(offered, ({ escrow }) => escrow);
  for (let at = 0; at < found.length; at += ROWS_AT_ONCE) {
    const some = found.slice(at, at + ROWS_AT_ONCE);
    const rows = yield* index.escrowsAt(some.map(({ address }) => address));
    const stored = new Map(rows.map((row) => [row.address, row]));
    for (const each of some) {
      const { address, tombstone, slot } = each;
      const row = stored.get(address);
      if (row !== undefined) accounts.holds(address);
      if (row !== undefined && row.state !== "Pending") {
        memory.unseen.delete(address);
        continue;
      }
      const last = (offeredFor.get(address) ?? [])
        .map(({ data }) => believedBytes(address, data, tombstone, deployment))
        .find((bytes) => bytes !== undefined);
      if (last === undefined) {
        memory.unseen.add(each);
        continue;
      }
      memory.unseen.delete(address);
      accounts.add(last.escrow, slot);
    }
  }
});
