import { Clock, Effect } from "effect";
import type { SyncMark } from "../../../../domain/index/sync-report.ts";
import type { Merchant } from "../../../../domain/merchant/merchant.ts";
import { IndexWriter, type Observed } from "../../../../../ports/index/index-writer.ts";
import type { IndexAccounts } from "../index-accounts.ts";
import type { ProvedEvents } from "./prove-events.ts";

/** Numbers per store transaction. */
const EVENTS_AT_ONCE = 10_000n;

/**
 * Writes proved events to the index, in steps of at most 10,000 with a mark of its own each, and the merchants with the
 * last one. Returns the last mark. Fails like the store, which then stands at one of the marks.
 */
export const applyEvents = Effect.fn("applyEvents")(function* (
  accounts: IndexAccounts,
  since: SyncMark,
  { tip, held }: ProvedEvents,
  merchants: ReadonlyArray<Observed<Merchant>>,
) {
  const { apply } = yield* IndexWriter;
  const stops = held.eventsEvery(EVENTS_AT_ONCE, since);
  let from = since.count;
  for (const [at, { count, frontier }] of stops.entries()) {
    const changes = held.changes(from, count);
    const isLast = at === stops.length - 1;
    const atMs = yield* Clock.currentTimeMillis;
    yield* apply({
      ...changes,
      from,
      merchants: isLast ? merchants : [],
      mark: { ...tip, count, frontier, atMs },
    });
    for (const { createdSeq } of [
      ...changes.escrows.map(({ escrow }) => escrow),
      ...changes.unseen,
    ]) {
      if (createdSeq > from) accounts.escrows.created += 1;
      else if (createdSeq <= since.count) accounts.escrows.updated += 1;
    }
    from = count;
  }
  const atMs = yield* Clock.currentTimeMillis;
  const mark: SyncMark = { ...tip, atMs };
  return mark;
});
