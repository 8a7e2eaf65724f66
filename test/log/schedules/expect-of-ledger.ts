import { expect } from "bun:test";
import { Effect } from "effect";
import { rootOf } from "../../../core/log/tree/frontier.ts";
import { readRoot } from "../../../core/use-cases/log/read-tree.ts";
import { LogStore } from "../../../ports/log/log-store.ts";
import type { Index } from "../../contracts/fresh-index.ts";
import type { IndependentTree } from "../independent-tree.ts";

type Expected = {
  readonly ledger: IndependentTree;
  /** Another history that a node may have shown, whole and consistent; null without one. */
  readonly fork: IndependentTree | null;
  /** Which sizes' roots are compared: all, or the last and a few more. */
  readonly sizes: "all" | "some";
};

/** All of them, or the ends, the middle and the edges of tiles. */
const sizesTo = (last: number, sizes: Expected["sizes"]): ReadonlyArray<number> =>
  Array.from({ length: last }, (_, at) => at + 1).filter(
    (size) =>
      sizes === "all" ||
      [1, 2, Math.ceil(last / 2), last - 1, last].includes(size) ||
      size % 256 <= 1,
  );

/** An index's mark with its leaves. What a killed process had sent to its database may land between two reads: they are read again. */
const markAndLeaves = ({ reader, log }: Index) =>
  Effect.gen(function* () {
    const { mark } = yield* reader.summary;
    const leaves = yield* log.leaves(1n, Number(mark?.count ?? 0n) + 10);
    const { mark: after } = yield* reader.summary;
    return { mark, leaves, isOfOneMoment: Bun.deepEquals(mark, after) };
  }).pipe(Effect.repeat({ until: ({ isOfOneMoment }) => isOfOneMoment }));

/**
 * Expects that an index without a mark has no leaves, and that one with a mark of count n holds exactly the history's
 * leaves 1 to n, and its roots at the sizes 1 to n + 1. Says whether that history is the fork.
 */
export const expectOfLedger = Effect.fnUntraced(function* (
  index: Index,
  { ledger, fork, sizes }: Expected,
) {
  const { log } = index;
  const { mark, leaves } = yield* markAndLeaves(index);
  if (mark === null) {
    expect(leaves).toEqual([]);
    return false;
  }
  const count = Number(mark.count);
  const root = rootOf(mark);
  const history = ledger.roots[count] === root ? ledger : fork;
  if (history === null || history.roots[count] !== root)
    throw new Error(`nobody has shown the root ${root} at event ${count}`);
  expect(leaves.map((leaf) => leaf.toHex())).toEqual(
    history.leaves.slice(1, count + 1).map((leaf) => leaf.toHex()),
  );
  const tree = { networkLeaf: Uint8Array.from(history.leaves[0] ?? []), generation: 0 };
  // A fork's leaves are under the same paths. Only what is signed is kept there.
  const shown = history === ledger ? log : { ...log, tile: () => Effect.succeed(null) };
  for (const size of sizesTo(count + 1, sizes)) {
    const read = yield* Effect.provideService(readRoot(tree, size), LogStore, shown);
    expect(read.toHex(), `the root of size ${size}`).toBe(history.roots[size - 1] ?? "");
  }
  return history !== ledger;
});
