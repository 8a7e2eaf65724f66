import { Effect } from "effect";
import type { Hash32 } from "../../../../domain/hash32.ts";
import type { HistoryHead } from "../../../../domain/index/index-contradiction.ts";
import { firstHead } from "../../../../log/leaf/event-chain.ts";
import { LeafChain } from "../../../../log/leaf/leaf-chain.ts";
import { LogStore } from "../../../../../ports/log/log-store.ts";

/** The chain's heads are kept at every number of this kind: 64 bytes for each such stretch of events. */
const STEP = 256;

/** The heads of a chain from the first event on, at every 256th number and at those that are asked for. */
export class ComparedHistory {
  readonly #heads = new Map<bigint, Hash32>();
  readonly #wanted: ReadonlySet<bigint>;

  constructor(wanted: Iterable<bigint>) {
    this.#wanted = new Set(wanted);
  }

  /** Notes where the chain stands after its last leaf. */
  see(chain: LeafChain): void {
    const { last } = chain;
    if (last % BigInt(STEP) === 0n || this.#wanted.has(last)) this.#heads.set(last, chain.head);
  }

  /** Whether the chain passed through this state, as far as it was asked to keep it. */
  has({ count, head }: HistoryHead): boolean {
    return this.#heads.get(count) === head;
  }

  /**
   * The numbers among which the first event is that differs from the index's, both included; null when none does up to
   * `count`. Fails like the store.
   */
  firstDifference(count: bigint) {
    return Effect.gen({ self: this }, function* () {
      const log = yield* LogStore;
      const chain = new LeafChain(0n, firstHead());
      while (chain.last < count) {
        const from = chain.last + 1n;
        const rest = count - chain.last;
        const limit = rest < BigInt(STEP) ? Number(rest) : STEP;
        const leaves = yield* log.leaves(from, limit);
        for (const leaf of leaves) chain.add(chain.last + 1n, leaf);
        const to = chain.last;
        if (leaves.length < limit || !this.has({ count: to, head: chain.head }))
          return { from, to: to < from ? from : to };
      }
      return null;
    });
  }
}
