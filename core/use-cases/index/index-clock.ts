import { Context, Effect } from "effect";
import type { SyncMark } from "../../domain/index/sync-report.ts";
import type { UnixSeconds } from "../../domain/unix-time.ts";
import { monotonicMs } from "../single-flight.ts";

/**
 * The ledger's clock as readers of the index go by it: the mark's time plus the monotonic time since this process first
 * saw that mark. The machine's wall clock can be wrong or be set, and decides nothing.
 */
export class IndexClock extends Context.Service<
  IndexClock,
  {
    /** The ledger's clock now, at least the mark's; null before the first sync. */
    readonly at: (mark: SyncMark | null) => Effect.Effect<UnixSeconds | null>;
  }
>()("settlement-evidence/core/use-cases/IndexClock") {}

/** The process's one `IndexClock`. */
export const makeIndexClock = Effect.sync(() => {
  let seen: {
    readonly slot: bigint;
    readonly ledgerTime: UnixSeconds;
    readonly atMs: number;
  } | null = null;
  return IndexClock.of({
    at: (mark) =>
      Effect.map(monotonicMs, (nowMs) => {
        if (mark === null) return null;
        const { slot, ledgerTime } = mark;
        if (seen === null || seen.slot !== slot || seen.ledgerTime !== ledgerTime)
          seen = { slot, ledgerTime, atMs: nowMs };
        return ledgerTime + BigInt(Math.floor(Math.max(0, nowMs - seen.atMs) / 1000));
      }),
  });
});
