import { Effect } from "effect";
import type { SyncMark } from "../../../../domain/index/sync-mark.ts";
import { AskAnotherNode } from "../../../../../ports/ledger/ask-another-node.ts";
import { untrustworthy } from "../../../refuse-answer.ts";
import { type CustodyTip, readCustodyTip } from "../ledger/custody-tip.ts";
import { deniedCreation } from "./denied-creation.ts";
import { eventsContradict } from "./event-failures.ts";
import { eventsMissingIn, gatherEvents } from "./gather-events.ts";
import type { HeldEvents } from "./held-events.ts";
import type { IndexAccounts } from "../index-accounts.ts";
import type { SyncMemory } from "../ledger/sync-memory.ts";

/** How often count, head and accounts are read before they contradict each other for good. Another node answers. */
const READINGS = 2;

/** Events that chain from an index's mark to a tip's head. */
export type ProvedEvents = { readonly tip: CustodyTip; readonly held: HeldEvents };

/** Whether the tip is one of the ledger that the mark is of, as far as the two can tell. */
const continues = (tip: CustodyTip, mark: SyncMark): boolean =>
  tip.count > mark.count || (tip.count === mark.count && tip.head === mark.head);

/**
 * The events above the mark and up to a count that the ledger shows, once their chain is its head and the tombstones among
 * their rows show the creations that the index has. When that is not so, or when events are missing that another node may show, count, head and accounts are read again, from another node if there is one; if they still contradict each other, fails naming the first number that
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
    let isMissing = false;
    let fault = untrustworthy(
      `the custody program's ${tip.count} events are not those of the index, which holds ${mark.count}`,
    );
    if (continues(tip, mark)) {
      const held: HeldEvents = yield* gatherEvents(accounts, memory, { mark, rows, tip });
      const isChained = held.chain(mark.head).head === tip.head;
      isMissing = !held.isComplete;
      const denied = isChained && !isMissing ? yield* deniedCreation(held) : null;
      const contradicted = held.contradicted ?? denied;
      if (contradicted === null && isChained && !isMissing) {
        memory.contradictions = 0;
        memory.contradiction = null;
        return { tip, held } satisfies ProvedEvents;
      }
      const differing = contradicted ?? before?.firstDifference(held) ?? null;
      fault = isMissing
        ? eventsMissingIn(accounts, held, mark.head)
        : eventsContradict(differing ?? { from: mark.count, to: tip.count });
      before = held;
    }
    memory.contradictedAnswers += 1;
    yield* Effect.logWarning(
      "accounts that a node showed are not those of the custody program's count and head",
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
