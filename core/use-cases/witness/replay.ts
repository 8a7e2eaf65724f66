import { Effect } from "effect";
import { firstHead, headAfter } from "../../log/leaf/event-chain.ts";
import { EVENT_LEAF_LENGTH } from "../../log/leaf/event-leaf.ts";
import { TreeEdge } from "../../log/tree/tree-edge.ts";
import { isSameHash, leafHash } from "../../log/tree/tree-hash.ts";
import type { CosignedLog } from "../../../ports/log/witness-state.ts";
import { forEachLeaf, type LeavesFailure, type ReadableLog } from "./log-leaves.ts";

const lengthFault = (leaf: Uint8Array, index: number): string | undefined =>
  leaf.length === EVENT_LEAF_LENGTH ? undefined : `entry ${index} has ${leaf.length} bytes`;

/** A log's tree and chain, made anew from the log's entries. */
export class Replay {
  readonly #edge: TreeEdge;
  #head: Uint8Array;

  /** Begins at what was cosigned last, or before leaf 0. @throws RangeError for an edge of another size. */
  constructor(cosigned: CosignedLog | null) {
    this.#edge = cosigned === null ? new TreeEdge() : new TreeEdge(cosigned.size, cosigned.edge);
    this.#head = cosigned?.head ?? firstHead();
  }

  /** The leaves that were replayed. */
  get size(): number {
    return this.#edge.size;
  }

  /** What to remember once a checkpoint of this size is cosigned. */
  state(): CosignedLog {
    return {
      size: this.#edge.size,
      root: this.#edge.root(),
      head: this.#head,
      edge: this.#edge.roots,
    };
  }

  /**
   * Replays the log's entries up to a size. Leaf 0 must be `networkLeaf`. Interrupted or failed, it can go on later: it
   * holds the leaves that came before.
   */
  goTo(
    log: ReadableLog,
    size: number,
    networkLeaf: Uint8Array,
  ): Effect.Effect<void, LeavesFailure> {
    return forEachLeaf(log, this.size, size, (leaf, index) => {
      if (index === 0) {
        if (!isSameHash(leaf, networkLeaf)) return "entry 0 names another network";
      } else {
        const fault = lengthFault(leaf, index);
        if (fault !== undefined) return fault;
        this.#head = headAfter(this.#head, leaf);
      }
      this.#edge.append(leafHash(leaf));
      return undefined;
    });
  }

  /** The chain over the events up to number `count`, from this size on. Changes nothing here. */
  headAt(log: ReadableLog, count: number): Effect.Effect<Uint8Array, LeavesFailure> {
    let head = this.#head;
    return forEachLeaf(log, this.size, count + 1, (leaf, index) => {
      const fault = lengthFault(leaf, index);
      if (fault === undefined) head = headAfter(head, leaf);
      return fault;
    }).pipe(Effect.map(() => head));
  }
}
