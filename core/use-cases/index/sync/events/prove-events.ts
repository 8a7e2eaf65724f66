import { Context, Effect } from "effect";
import { AskAnotherNode } from "../../../../../ports/ledger/ledger.ts";
import type { SyncMark } from "../../../../domain/index/sync-report.ts";
import type { NumberedLeaf } from "../../../../log/leaf/escrow-leaves.ts";
import { EVENT_LEAF_LENGTH } from "../../../../log/leaf/event-leaf.ts";
import { leavesOfUnseen } from "../../../../log/leaf/indexed-leaves.ts";
import { rootOf } from "../../../../log/tree/frontier.ts";
import { untrustworthy } from "../../../or-ask-another.ts";
import { provedLeaves } from "../../index-query.ts";
import type { IndexAccounts } from "../index-accounts.ts";
import { type CustodyTip, readCustodyTip } from "../ledger/custody-tip.ts";
import type { SyncMemory } from "../ledger/sync-memory.ts";
import { eventsContradict } from "../sync-failure.ts";
import { eventsMissingIn, gatherEvents, type ShownAhead } from "./gather-events.ts";
import type { HeldEvents } from "./held-events.ts";

/**
 * The most events that an index catches up with, 200,000. One that more have passed by is built anew: a scan can keep
 * no more of their rows in memory.
 */
export const MostCatchUp = Context.Reference<bigint>(
  "settlement-evidence/core/use-cases/MostCatchUp",
  { defaultValue: () => 200_000n },
);

/** Escrows per read of the store. */
const BATCH = 1000;

/**
 * The first number at or below the range of which a held tombstone shows another creation than the index, null without
 * one. The leaf of a settlement has the digest of bytes that a tombstone does not show: it proves neither the
 * creation's number nor its digest. Fails like the store.
 */
export const deniedCreation = Effect.fn("deniedCreation")(function* (held: HeldEvents) {
  const shown = held.changes(held.from, held.to).unseen.flatMap((row) => {
    const [created] = leavesOfUnseen(row);
    return created === undefined || created.seq > held.from
      ? []
      : [{ address: row.address, ...created }];
  });
  for (let at = 0; at < shown.length; at += BATCH) {
    const batch = shown.slice(at, at + BATCH);
    const proved = yield* provedLeaves(batch.map(({ address }) => address));
    const known = new Map(proved.map(({ seq, leaf }) => [seq, leaf.toHex()]));
    const denied = batch.find(({ seq, leaf }) => known.get(seq) !== leaf.toHex());
    if (denied !== undefined) return denied.seq;
  }
  return null;
});

/** The most missing numbers that are named. All are counted. */
const MAX_ABSENT_NAMED = 10;

/** The leaves of a range of event numbers in one block of 66 bytes each. Rows may come in any order and again. */
export class LeafWindow {
  /** The first number that came with two leaves, null without one. */
  contradicted: bigint | null = null;
  readonly #from: bigint;
  readonly #to: bigint;
  readonly #bytes: Uint8Array;
  #held = 0n;

  /** A window without leaves for the numbers above `from`, up to `to`. */
  constructor(from: bigint, to: bigint) {
    this.#from = from;
    this.#to = to;
    this.#bytes = new Uint8Array(Number(to - from) * EVENT_LEAF_LENGTH);
  }

  /** Whether a number is in the window. */
  has(seq: bigint): boolean {
    return seq > this.#from && seq <= this.#to;
  }

  /** Keeps a leaf whose number is in the window. The first one of a number stays. */
  add({ seq, leaf }: NumberedLeaf): void {
    if (!this.has(seq)) return;
    const held = this.#at(seq);
    // A leaf's first byte is its kind, which is never zero.
    if (held[0] === 0) {
      held.set(leaf);
      this.#held += 1n;
    } else if (!held.every((byte, at) => byte === leaf[at])) this.contradicted ??= seq;
  }

  /** Whether a number in the window has no leaf. */
  lacks(seq: bigint): boolean {
    return this.has(seq) && this.#at(seq)[0] === 0;
  }

  /** How many numbers have no leaf. */
  get missing(): bigint {
    return this.#to - this.#from - this.#held;
  }

  /** The first numbers without a leaf, at most 10. */
  get firstMissing(): ReadonlyArray<bigint> {
    const first: Array<bigint> = [];
    for (let seq = this.#from + 1n; seq <= this.#to && first.length < MAX_ABSENT_NAMED; seq++)
      if (this.#at(seq)[0] === 0) first.push(seq);
    return first;
  }

  /** The leaves in ascending order of their numbers. None may be missing. */
  *leaves(): Generator<NumberedLeaf> {
    for (let seq = this.#from + 1n; seq <= this.#to; seq++) yield { seq, leaf: this.#at(seq) };
  }

  #at(seq: bigint): Uint8Array {
    const at = Number(seq - this.#from - 1n) * EVENT_LEAF_LENGTH;
    return this.#bytes.subarray(at, at + EVENT_LEAF_LENGTH);
  }
}

/** How often root and accounts are read before they contradict each other for good. Another node answers. */
const READINGS = 2;

/** Events that lead from an index's mark to a tip's root. */
export type ProvedEvents = { readonly tip: CustodyTip; readonly held: HeldEvents };

/** Whether the tip is one of the ledger that the mark is of, as far as the two can tell. */
const continues = (tip: CustodyTip, mark: SyncMark): boolean =>
  tip.count > mark.count || (tip.count === mark.count && rootOf(tip) === rootOf(mark));

/**
 * The events above the mark and up to a count that the ledger shows, once their log has its root and the tombstones
 * among their rows show the creations that the index has. When that is not so, or when events are missing that another
 * node may show, root and accounts are read again, from another node if there is one; if they still contradict each
 * other, fails naming the first number that differs, or the range. Fails like the ledger.
 */
export const proveEvents = Effect.fn("proveEvents")(function* (
  accounts: IndexAccounts,
  memory: SyncMemory,
  {
    mark,
    rows,
    first,
    shown = null,
  }: {
    readonly mark: SyncMark;
    readonly rows: number;
    /** The tip that the sync has read. */
    readonly first: CustodyTip;
    /** What was read together with that tip. */
    readonly shown?: ShownAhead | null;
  },
) {
  let tip = first;
  let before: HeldEvents | null = null;
  for (let reading = 1; ; reading++) {
    let isMissing = false;
    let fault = untrustworthy(
      `the custody program's ${tip.count} events are not those of the index, which holds ${mark.count}`,
    );
    if (continues(tip, mark)) {
      const held: HeldEvents = yield* gatherEvents(accounts, memory, {
        mark,
        rows,
        tip,
        shown: tip === first ? shown : null,
      });
      const isSameRoot = held.tree(mark).root === rootOf(tip);
      isMissing = !held.isComplete;
      const denied = isSameRoot && !isMissing ? yield* deniedCreation(held) : null;
      const contradicted = held.contradicted ?? denied;
      if (contradicted === null && isSameRoot && !isMissing) {
        memory.contradictions = 0;
        memory.contradiction = null;
        return { tip, held } satisfies ProvedEvents;
      }
      const differing = contradicted ?? before?.firstDifference(held) ?? null;
      fault = isMissing
        ? eventsMissingIn(accounts, held, mark)
        : eventsContradict(differing ?? { from: mark.count, to: tip.count });
      before = held;
    }
    memory.contradictedAnswers += 1;
    yield* Effect.logWarning(
      "accounts that a node showed are not those of the custody program's root",
      { cause: fault.cause, slot: tip.slot, count: tip.count },
    );
    const isAnother = yield* yield* AskAnotherNode;
    if (reading === READINGS || (isMissing && !isAnother)) {
      if (!isMissing) memory.contradictions += 1;
      return yield* fault;
    }
    tip = yield* readCustodyTip(mark);
  }
});
