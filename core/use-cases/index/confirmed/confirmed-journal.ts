import type { IndexedEvent } from "../../../domain/index/settlement-event.ts";

/** The most events that are kept until they are final, about 1 kB each. Others are told once they are final. */
export const MOST_PENDING = 4096;
/** The most changes that are kept for readers. One that is further behind begins anew. */
const MOST_CHANGES = 2 * MOST_PENDING;

/** What became of an event before it was final: the ledger confirmed it, or a fork undid that. */
export type ConfirmedChange = {
  readonly finality: "confirmed" | "retracted";
  readonly event: IndexedEvent;
};

/** The events that a proved chain of leaves holds above a number. */
export type StandingEvents = {
  /** The chain holds every number above this one. */
  readonly from: bigint;
  /** The chain's last number. */
  readonly to: bigint;
  readonly events: ReadonlyArray<IndexedEvent>;
  /** The leaf's hash at a number of the chain. */
  readonly leafHashAt: (position: bigint) => string | undefined;
};

/**
 * The events that are confirmed and not final yet, and the last changes among them in order. Kept in memory alone: a
 * fork may undo all of it.
 */
export class ConfirmedJournal {
  /** The number up to which the events are final. */
  finalTo: bigint;
  readonly #pending = new Map<bigint, IndexedEvent>();
  #changes: Array<ConfirmedChange> = [];
  /** How many changes came before the first that is kept. */
  #dropped = 0;

  constructor(finalTo: bigint) {
    this.finalTo = finalTo;
  }

  /** How many changes there were so far. */
  get end(): number {
    return this.#dropped + this.#changes.length;
  }

  /** The events that are confirmed and not final, in the order of their numbers. */
  get pending(): ReadonlyArray<IndexedEvent> {
    return [...this.#pending.values()].sort((a, b) => (a.position < b.position ? -1 : 1));
  }

  /** At most `limit` changes from the `cursor`th on, null when those are not kept any more. */
  since(cursor: number, limit: number): ReadonlyArray<ConfirmedChange> | null {
    const at = cursor - this.#dropped;
    return at < 0 ? null : this.#changes.slice(at, at + limit);
  }

  /** Notes what a proved chain holds: events that it holds no more are retracted, new ones are confirmed. */
  stand({ from, to, events, leafHashAt }: StandingEvents): void {
    for (const event of this.pending.toReversed()) {
      const { position, leafHash } = event;
      const isKept = position <= from || (position <= to && leafHashAt(position) === leafHash);
      if (!isKept) this.#retract(event);
    }
    for (const event of events) {
      if (event.position <= this.finalTo || this.#pending.has(event.position)) continue;
      if (this.#pending.size >= MOST_PENDING) return;
      this.#pending.set(event.position, event);
      this.#push({ finality: "confirmed", event });
    }
  }

  /**
   * Notes that the events up to a number are final, and which they are. What was confirmed with another leaf is
   * retracted. An event whose escrow nobody can show is not among the final ones, and is forgotten. Says whether a
   * confirmed event turned out to be another.
   */
  finalize(to: bigint, final: ReadonlyArray<IndexedEvent>): boolean {
    const leaves = new Map(final.map(({ position, leafHash }) => [position, leafHash]));
    let isContradicted = false;
    for (const event of this.pending) {
      if (event.position > to) break;
      const leaf = leaves.get(event.position);
      if (leaf !== undefined && leaf !== event.leafHash) {
        isContradicted = true;
        this.#retract(event);
      } else this.#pending.delete(event.position);
    }
    if (to > this.finalTo) this.finalTo = to;
    return isContradicted;
  }

  #retract(event: IndexedEvent): void {
    this.#pending.delete(event.position);
    this.#push({ finality: "retracted", event });
  }

  #push(change: ConfirmedChange): void {
    this.#changes.push(change);
    if (this.#changes.length < 2 * MOST_CHANGES) return;
    this.#dropped += MOST_CHANGES;
    this.#changes = this.#changes.slice(MOST_CHANGES);
  }
}
