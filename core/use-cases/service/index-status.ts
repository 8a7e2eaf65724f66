import { Duration, Effect } from "effect";
import type { SyncMark } from "../../domain/index/sync-mark.ts";
import { IndexReader } from "../../../ports/index/index-reader.ts";
import { IndexSync } from "../index/sync/index-sync.ts";

/** Time limit of one part of the status. */
const PART_TIMEOUT = Duration.millis(700);

/** The effect's value, null when it fails or takes longer than 700 ms. */
export const orNull = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  effect.pipe(
    Effect.timeout(PART_TIMEOUT),
    Effect.orElseSucceed(() => null),
  );

/** What the index holds, and its sync activity. */
export const indexStatus = Effect.gen(function* () {
  const index = yield* IndexReader;
  const sync = yield* IndexSync;
  return { ...(yield* index.summary), ...(yield* sync.activity) };
});

/** How many slots the ledger is ahead of the index, at least 0; null when either is not known. */
export const lagBehind = (
  mark: SyncMark | null | undefined,
  slot: bigint | undefined,
): bigint | null => {
  if (mark === null || mark === undefined || slot === undefined) return null;
  return slot > mark.slot ? slot - mark.slot : 0n;
};
