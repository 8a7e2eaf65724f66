import { Effect } from "effect";
import { firstHead } from "../../../../log/leaf/event-chain.ts";
import { LeafChain } from "../../../../log/leaf/leaf-chain.ts";
import { LogStore } from "../../../../../ports/log/log-store.ts";
import type { CustodyTip } from "../ledger/custody-tip.ts";

/** Leaves per read of the store. */
const LEAVES_AT_ONCE = 1000;

/** Whether the first `count` leaves of the index chain to `head`. The index holds at least as many. Fails like the store. */
export const isPrefixOfIndex = Effect.fn("isPrefixOfIndex")(function* ({
  count,
  head,
}: Pick<CustodyTip, "count" | "head">) {
  const log = yield* LogStore;
  const chain = new LeafChain(0n, firstHead());
  while (chain.last < count) {
    const rest = count - chain.last;
    const limit = rest < BigInt(LEAVES_AT_ONCE) ? Number(rest) : LEAVES_AT_ONCE;
    const leaves = yield* log.leaves(chain.last + 1n, limit);
    if (leaves.length === 0) return false;
    for (const leaf of leaves) chain.add(chain.last + 1n, leaf);
  }
  return chain.head === head;
});
