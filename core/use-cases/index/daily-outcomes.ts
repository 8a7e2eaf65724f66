import { Context, Effect, Semaphore } from "effect";
import { Instance } from "../../../ports/instance.ts";
import { IndexReader } from "../../../ports/index/index-reader.ts";
import type { StoreUnavailable } from "../../../ports/index/store-refusal.ts";
import type { Address } from "../../domain/address.ts";
import type { EventKind, IndexedEvent } from "../../domain/index/settlement-event.ts";

/** Events of a page of the store. */
const A_PAGE = 500;
/** Pages read for one answer: a request waits some 50 ms at most, and the next one goes on where it ended. */
const PAGES_AN_ANSWER = 20;
const SECONDS_A_DAY = 86_400n;

/** What happened on one day of the ledger's clock. */
export type Day = {
  /** Days since 1970-01-01, in UTC. */
  readonly number: number;
  /** Events by their kind. */
  readonly events: Readonly<Record<EventKind, number>>;
  /** Base units that moved, by kind, of each mint that the service lists. */
  readonly moved: ReadonlyMap<Address, Readonly<Record<EventKind, bigint>>>;
};

/** The counts of all days so far. */
export type DailyOutcomes = {
  /** Newest first; days without events are left out. */
  readonly days: ReadonlyArray<Day>;
  /** The number of the last event that is counted. */
  readonly countedTo: bigint;
  /** The number of the last event that the index holds; null before the first sync. */
  readonly count: bigint | null;
};

/** Counts the index's events by day. */
export class DailyOutcomesCount extends Context.Service<
  DailyOutcomesCount,
  {
    /** At most `days` of the newest days. Fails like the store. */
    readonly newest: (days: number) => Effect.Effect<DailyOutcomes, StoreUnavailable>;
  }
>()("settlement-evidence/core/use-cases/DailyOutcomesCount") {}

type Counting = {
  readonly number: number;
  readonly events: Record<EventKind, number>;
  readonly moved: Map<Address, Record<EventKind, bigint>>;
};

/** Nothing of any kind yet. */
const noneOf = <Amount>(zero: Amount): Record<EventKind, Amount> => ({
  escrow_created: zero,
  escrow_released: zero,
  escrow_partially_released: zero,
  escrow_refunded: zero,
});

/**
 * The process's one count. It reads each event once and keeps a few numbers a day, so that no store needs a table for
 * it. Units are added up of the mints that the service lists: anybody can make others. An index that was built anew, whose
 * events are fewer, is counted from its beginning.
 */
export const makeDailyOutcomesCount = Effect.gen(function* () {
  const { supportedMints } = yield* Instance;
  const listed = new Set(supportedMints.map(({ address }) => address));
  const index = yield* IndexReader;
  const one = yield* Semaphore.make(1);
  let days = new Map<number, Counting>();
  let countedTo = 0n;

  const count = ({ event }: IndexedEvent): void => {
    const number = Number(event.occurredAt / SECONDS_A_DAY);
    const day = days.get(number) ?? { number, events: noneOf(0), moved: new Map() };
    days.set(number, day);
    day.events[event.kind] += 1;
    if (!listed.has(event.mint)) return;
    const moved = day.moved.get(event.mint) ?? noneOf(0n);
    day.moved.set(event.mint, moved);
    moved[event.kind] += event.amount;
  };

  const catchUp = Effect.gen(function* () {
    const { mark } = yield* index.summary;
    const end = mark?.count ?? 0n;
    if (end < countedTo) {
      days = new Map();
      countedTo = 0n;
    }
    for (let pages = 0; pages < PAGES_AN_ANSWER && countedTo < end; pages++) {
      const events = yield* index.events({}, A_PAGE, { after: countedTo });
      for (const event of events) count(event);
      const last = events.at(-1)?.position ?? countedTo;
      // A short page means that the store has no further event up to the mark: the rest is of unseen escrows.
      countedTo = events.length < A_PAGE && last < end ? end : last;
    }
    return mark?.count ?? null;
  });

  return DailyOutcomesCount.of({
    newest: (most) =>
      one.withPermits(1)(
        Effect.map(catchUp, (inIndex) => ({
          days: [...days.values()].sort((a, b) => b.number - a.number).slice(0, most),
          countedTo,
          count: inIndex,
        })),
      ),
  });
});
