import { Effect } from "effect";
import type { Address } from "../../../domain/address.ts";
import { monotonicMs } from "../../monotonic-time.ts";
import { searchHistory } from "../../escrow/search-history.ts";
import type { IndexAccounts } from "./index-accounts.ts";
import type { SyncMemory } from "./sync-memory.ts";

/** Histories searched per sync; each costs many calls of the node. */
export const SEARCHES_A_SYNC = 32;
const AT_ONCE = 4;

/**
 * Searches the histories of some archived escrows that the index lacks and writes what it finds. A history that cannot
 * be read stops its own row only; the next syncs continue. Fails like the store.
 */
export const searchArchived = Effect.fn("searchArchived")(function* (
  accounts: IndexAccounts,
  memory: SyncMemory,
) {
  const nowMs = yield* monotonicMs;
  const found: Array<Address> = [];
  yield* Effect.forEach(
    memory.unseen.next(SEARCHES_A_SYNC, nowMs),
    Effect.fnUntraced(function* (search) {
      const result = yield* searchHistory(search.address, search.tombstone, search.after).pipe(
        Effect.orElseSucceed(() => null),
      );
      if (result === null) return memory.unseen.searched(search, search);
      if (result.kind === "found") {
        accounts.add(result.last.escrow, search.slot);
        found.push(search.address);
        return;
      }
      memory.unseen.searched(
        search,
        result.kind === "more"
          ? { after: result.after, endedMs: null }
          : { after: null, endedMs: nowMs },
      );
    }),
    { concurrency: AT_ONCE },
  );
  if (found.length === 0) return;
  yield* accounts.write();
  for (const address of found) memory.unseen.delete(address);
});
