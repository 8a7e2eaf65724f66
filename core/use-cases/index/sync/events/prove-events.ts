import { Effect } from "effect";
import type { SyncMark } from "../../../../domain/index/sync-mark.ts";
import { untrustworthy } from "../../../refuse-answer.ts";
import { type CustodyTip, readCustodyTip } from "../ledger/custody-tip.ts";
import { eventsContradict } from "./event-failures.ts";
import { gatherEvents } from "./gather-events.ts";
import type { HeldEvents } from "./held-events.ts";
import type { IndexAccounts } from "../index-accounts.ts";
import type { SyncMemory } from "../ledger/sync-memory.ts";

/** How often count, head and accounts are read before they contradict each other for good. Another node may answer. */
const READINGS = 2;

/** Events that chain from an index's mark to a tip's head. */
export type ProvedEvents = { readonly tip: CustodyTip; readonly held: HeldEvents };

/** Whether the tip is one of the ledger that the mark is of, as far as the two can tell. */
const continues = (tip: CustodyTip, mark: SyncMark): boolean =>
  tip.count > mark.count || (tip.count === mark.count && tip.head === mark.head);

/**
 * The events above the mark and up to a count that the ledger shows, once their chain is its head. When it is another
 * one, count, head and accounts are read again; if they still contradict each other, fails naming the first number that
 * differs, or the range. Fails like the ledger.
 */
export const proveEvents = Effect.fn("proveEvents")(function* (
  accounts: IndexAccounts,
  memory: SyncMemory,
  {
    mark,
    rows,
    first,
  }: {
    readonly mark: SyncMark;
    readonly rows: number;
    /** The tip that the sync has read. */
    readonly first: CustodyTip;
  },
) {
  let tip = first;
  let before: HeldEvents | null = null;
  for (let reading = 1; ; reading++) {
    let fault = untrustworthy(
      `the custody program's ${tip.count} events are not those of the index, which holds ${mark.count}`,
    );
    if (continues(tip, mark)) {
      const held: HeldEvents = yield* gatherEvents(accounts, memory, { mark, rows, tip });
      const isChained = held.chain(mark.head).head === tip.head;
      if (held.contradicted === null && isChained) {
        memory.contradictions = 0;
        memory.contradiction = null;
        return { tip, held } satisfies ProvedEvents;
      }
      const differing = held.contradicted ?? before?.firstDifference(held) ?? null;
      fault = eventsContradict(differing ?? { from: mark.count, to: tip.count });
      before = held;
    }
    if (reading === READINGS) {
      memory.contradictions += 1;
      return yield* fault;
    }
    tip = yield* readCustodyTip(mark);
  }
});
