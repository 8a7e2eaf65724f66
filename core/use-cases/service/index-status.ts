import { Duration, Effect } from "effect";
import { EscrowIndex, type SyncCheckpoint } from "../../../ports/escrow-index.ts";
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
  const index = yield* EscrowIndex;
  const sync = yield* IndexSync;
  return { ...(yield* index.summary), ...(yield* sync.activity) };
});

/** How many slots the ledger is ahead of the index, at least 0; null when either is not known. */
export const lagBehind = (
  checkpoint: SyncCheckpoint | null | undefined,
  slot: bigint | undefined,
): bigint | null => {
  if (checkpoint === null || checkpoint === undefined || slot === undefined) return null;
  return slot > checkpoint.slot ? slot - checkpoint.slot : 0n;
};
