import { Clock, Effect } from "effect";
import { IndexReader } from "../../../ports/index/index-reader.ts";
import { IndexSync } from "./sync/index-sync.ts";

/** A snapshot of the last minute, milliseconds: every sync reads the 150 slots before its mark again, which cover it. */
const FRESH_MS = 60_000;

/**
 * The report of a sync that begins after the call; with `snapshot` it also scans all merchants, and fails when that
 * fails. A snapshot that was complete within the last minute is not repeated. Fails like the ledger or the store.
 */
export const requestSync = Effect.fn("requestSync")(function* (snapshot: boolean) {
  const sync = yield* IndexSync;
  if (!snapshot) return yield* sync.request;
  const { snapshotAtMs } = yield* IndexReader.use(({ summary }) => summary);
  const sinceMs = snapshotAtMs === null ? null : (yield* Clock.currentTimeMillis) - snapshotAtMs;
  const isFresh = sinceMs !== null && sinceMs >= 0 && sinceMs < FRESH_MS;
  return yield* isFresh ? sync.request : sync.snapshot;
});
