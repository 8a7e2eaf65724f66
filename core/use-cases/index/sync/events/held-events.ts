import type { Address } from "../../../../domain/address.ts";
import { type Hash32, hash32FromBytes } from "../../../../domain/hash32.ts";
import type { IndexedEscrow, UnseenEscrow } from "../../../../domain/index/indexed-escrow.ts";
import { type EventReference, seqCausedBy } from "../../../../domain/index/settlement-event.ts";
import type { LoggedEvents } from "../../../../domain/index/sync-report.ts";
import type { NumberedLeaf } from "../../../../log/leaf/escrow-leaves.ts";
import { leavesOfUnseen } from "../../../../log/leaf/indexed-leaves.ts";
import { LeafTree } from "../../../../log/leaf/leaf-tree.ts";
import { projectAt, projectUnseenAt } from "../../../../log/leaf/escrow-rows.ts";
import { leafHash } from "../../../../log/tree/tree-hash.ts";
import type { EventCause } from "../../../../protocol/transaction/transaction-effects.ts";

const bySeq = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * The escrows that had events in a range of numbers, as a sync reads them, and the leaves of those events. Rows may
 * come in any order and again.
 */
export class HeldEvents {
  /** The range is above this number. */
  readonly from: bigint;
  /** The last number of the range. */
  readonly to: bigint;
  /** The first number of which two leaves were read, null without one. */
  contradicted: bigint | null = null;
  readonly #leaves = new Map<bigint, Uint8Array>();
  readonly #escrows = new Map<bigint, IndexedEscrow>();
  readonly #unseen = new Map<bigint, UnseenEscrow>();
  readonly #references = new Map<bigint, EventReference>();
  readonly #numbers = new Map<Address, bigint>();

  constructor(from: bigint, to: bigint) {
    this.from = from;
    this.to = to;
  }

  /** Whether an escrow with these numbers has an event in the range. */
  concerns(createdSeq: bigint, settledSeq: bigint | null): boolean {
    return this.#has(createdSeq) || (settledSeq !== null && this.#has(settledSeq));
  }

  /** Adds an escrow that shows every event up to `to`. One that shows fewer than a held row does not replace it. */
  add(row: IndexedEscrow): void {
    if (!this.#hold(leavesOfUnseen(row))) return;
    const { createdSeq, address } = row;
    this.#numbers.set(address, createdSeq);
    if (this.#isEarlier(row)) return;
    this.#unseen.delete(createdSeq);
    this.#escrows.set(createdSeq, row);
  }

  /** Adds what a tombstone shows. The escrow itself stays if it is held, but not in an earlier state. */
  addUnseen(row: UnseenEscrow): void {
    if (!this.#hold(leavesOfUnseen(row))) return;
    const { createdSeq, address } = row;
    this.#numbers.set(address, createdSeq);
    const escrow = this.#escrows.get(createdSeq);
    if (this.#isEarlier(row) || (escrow && this.#isSettled(escrow) === this.#isSettled(row)))
      return;
    this.#escrows.delete(createdSeq);
    this.#unseen.set(createdSeq, row);
  }

  /** Adds an escrow that could not be decoded, unless an event of it in the range is held already. */
  addUnreadable(row: UnseenEscrow): void {
    const isHeld = leavesOfUnseen(row).some(({ seq }) => this.#leaves.has(seq));
    if (!isHeld) this.addUnseen(row);
  }

  /** Adds the transaction that caused an event, if the event is held. The first one stays. */
  refer({ escrow, by, signature, slot }: EventCause): void {
    const createdSeq = this.#numbers.get(escrow);
    if (createdSeq === undefined) return;
    const held = this.#escrows.get(createdSeq)?.escrow;
    const row = held ?? this.#unseen.get(createdSeq);
    const position = row === undefined ? null : seqCausedBy(row, by);
    if (position === null || !this.#has(position) || this.#references.has(position)) return;
    this.#references.set(position, { position, signature, slot });
  }

  get isComplete(): boolean {
    return BigInt(this.#leaves.size) === this.to - this.from;
  }

  /** The hash of the leaf that is held at a number, undefined where none is. */
  leafHashAt(seq: bigint): Hash32 | undefined {
    const leaf = this.#leaves.get(seq);
    return leaf && hash32FromBytes(leafHash(leaf));
  }

  /** The log with the leaves up to `to`, from the events up to `from` on. */
  tree(before: LoggedEvents): LeafTree {
    const tree = new LeafTree(before);
    for (const seq of [...this.#leaves.keys()].sort(bySeq)) {
      const leaf = this.#leaves.get(seq);
      if (leaf !== undefined) tree.add(seq, leaf);
    }
    return tree;
  }

  /**
   * The log at every `step`th number of the range and at its end, which alone stands for an empty range. `before` are
   * the events up to `from`. Means nothing unless the range is complete.
   */
  eventsEvery(step: bigint, before: LoggedEvents): ReadonlyArray<LoggedEvents> {
    const stops: Array<LoggedEvents> = [];
    const tree = new LeafTree(before);
    for (let seq = this.from + 1n; seq <= this.to; seq++) {
      const leaf = this.#leaves.get(seq);
      if (leaf !== undefined) tree.add(seq, leaf);
      if (seq === this.to || (seq - this.from) % step === 0n) stops.push(tree.events);
    }
    return stops.length === 0 ? [before] : stops;
  }

  /** The number of the first event whose leaf differs from that of another reading, null without one. */
  firstDifference(other: HeldEvents): bigint | null {
    for (const seq of [...this.#leaves.keys()].sort(bySeq)) {
      const [mine, theirs] = [this.#leaves.get(seq), other.#leaves.get(seq)];
      if (mine?.toHex() !== theirs?.toHex()) return seq;
    }
    return null;
  }

  /** The rows that change between the events `from` and `to` of this range, as they are after `to`. */
  changes(from: bigint, to: bigint) {
    const isIn = (seq: bigint | null): boolean => seq !== null && seq > from && seq <= to;
    const escrows = Array.from(this.#escrows.values(), (row) => projectAt(row, to))
      .filter((row) => row !== null)
      .filter(({ createdSeq, settledSeq }) => isIn(createdSeq) || isIn(settledSeq))
      .sort((a, b) => bySeq(a.createdSeq, b.createdSeq));
    const unseen = Array.from(this.#unseen.values(), (row) => projectUnseenAt(row, to))
      .filter((row) => row !== null)
      .filter(({ createdSeq, settledSeq }) => isIn(createdSeq) || isIn(settledSeq))
      .sort((a, b) => bySeq(a.createdSeq, b.createdSeq));
    const transactions = [...this.#references.values()].filter(({ position }) => isIn(position));
    return { escrows, unseen, transactions };
  }

  #isSettled({ settledSeq }: UnseenEscrow): boolean {
    return settledSeq !== null && settledSeq <= this.to;
  }

  /** Whether a row lacks the settlement that a held row of its number shows: the settlement's leaf is in the log. */
  #isEarlier(row: UnseenEscrow): boolean {
    const held = this.#escrows.get(row.createdSeq) ?? this.#unseen.get(row.createdSeq);
    return held !== undefined && this.#isSettled(held) && !this.#isSettled(row);
  }

  #has(seq: bigint): boolean {
    return seq > this.from && seq <= this.to;
  }

  /** Keeps the leaves in the range; false when none of them is. */
  #hold(leaves: ReadonlyArray<NumberedLeaf>): boolean {
    let holds = false;
    for (const { seq, leaf } of leaves) {
      if (!this.#has(seq)) continue;
      holds = true;
      const held = this.#leaves.get(seq);
      if (held === undefined) this.#leaves.set(seq, leaf);
      else if (held.toHex() !== leaf.toHex()) this.contradicted ??= seq;
    }
    return holds;
  }
}
