import { Effect } from "effect";
import type { LoggedEvents, SyncMark } from "../../../../domain/index/sync-report.ts";
import { indexedEscrowOf } from "../../../../log/leaf/escrow-rows.ts";
import { indexedKinds } from "../../../../protocol/accounts/program-account.ts";
import { Instance } from "../../../../../ports/instance.ts";
import { monotonicMs } from "../../../single-flight.ts";
import { type CustodyTip, scanAccounts } from "../ledger/custody-tip.ts";
import { eventsMissing } from "../sync-failure.ts";
import { followHistory, holdShown, holdTold } from "../ledger/follow-history.ts";
import type { LookAhead } from "../ledger/look-ahead.ts";
import { HeldEvents } from "./held-events.ts";
import type { ScanOptions } from "../../../../../ports/ledger/ledger.ts";
import type { IndexAccounts, ReadRows } from "../index-accounts.ts";
import type { SyncMemory } from "../ledger/sync-memory.ts";

/** A scan of more rows than these waits until the history has lacked an event for `GAP_MS`. */
const CHEAP_ROWS = 20_000;
const GAP_MS = 60_000;

/**
 * The most events worth reading one by one instead of by a scan of `rows` rows: one request per transaction against one
 * row per account.
 */
export const worthReading = (rows: number): number => Math.min(20_000, 500 + Math.floor(rows / 20));

/**
 * Reads escrows and tombstones at `slot` or later, all of them or those that were written since a slot, and keeps those
 * that had events in the range.
 */
const scanEvents = Effect.fnUntraced(function* (
  accounts: IndexAccounts,
  memory: SyncMemory,
  held: HeldEvents,
  slot: bigint,
  options: ScanOptions,
) {
  const { deployment } = yield* Instance;
  const kinds = indexedKinds(deployment).filter(
    ({ program }) => program === deployment.custodyProgram,
  );
  const keep = ({ escrows, unseen }: ReadRows) =>
    Effect.sync(() => {
      for (const { escrow, data } of escrows)
        if (held.concerns(escrow.createdSeq, escrow.settledSeq))
          held.add(indexedEscrowOf(escrow, data));
      for (const row of unseen)
        if (held.concerns(row.createdSeq, row.settledSeq)) held.addUnseen(row);
      memory.progress = { phase: "accounts", done: accounts.read, total: null };
    });
  yield* scanAccounts(accounts, kinds, slot, keep, options);
});

/** What a look ahead has shown, decoded. */
export type ShownAhead = { readonly ahead: LookAhead; readonly rows: ReadRows };

/** The failure that counts the events that a range lacks and names the first. `before` are those up to the range. */
export const eventsMissingIn = (
  accounts: IndexAccounts,
  held: HeldEvents,
  before: LoggedEvents,
) => {
  const tree = held.tree(before);
  return eventsMissing(tree.missingTo(held.to), tree.missing, accounts.rejected);
};

/**
 * The events above the mark and up to the tip's count, from what is `shown` already, the history or, where that does not show them all, from a
 * scan. Some are missing when neither shows them. Fails like the ledger, and, naming the first missing numbers, while a
 * scan is put off.
 */
export const gatherEvents = Effect.fn("gatherEvents")(function* (
  accounts: IndexAccounts,
  memory: SyncMemory,
  {
    mark,
    rows,
    tip,
    shown,
  }: {
    readonly mark: SyncMark;
    readonly rows: number;
    readonly tip: CustodyTip;
    readonly shown: ShownAhead | null;
  },
) {
  const held = new HeldEvents(mark.count, tip.count);
  if (held.isComplete) return held;
  if (shown !== null) {
    const slots = { since: mark.slot, to: tip.slot };
    yield* holdShown([shown.rows], held, shown.ahead.transactions, () => slots);
    if (held.isComplete) {
      memory.gapSinceMs = null;
      return held;
    }
  }
  const most = worthReading(rows);
  const isWorthReading = tip.count - mark.count <= BigInt(most);
  if (isWorthReading) {
    // A node without history is one that does not show the events.
    const unlessShown = { LedgerUnavailable: () => Effect.void, LedgerTimeout: () => Effect.void };
    const slots = { since: mark.slot, to: tip.slot };
    yield* Effect.catchTags(followHistory(accounts, memory, held, slots, most), unlessShown);
    if (!held.isComplete)
      yield* Effect.catchTags(holdTold(accounts, memory, held, slots), unlessShown);
  }
  if (!held.isComplete && isWorthReading && rows > CHEAP_ROWS) {
    const nowMs = yield* monotonicMs;
    memory.gapSinceMs ??= nowMs;
    if (nowMs - memory.gapSinceMs < GAP_MS) return yield* eventsMissingIn(accounts, held, mark);
  }
  // Where a node knows what has changed, the count tells whether it told everything.
  if (!held.isComplete && rows > CHEAP_ROWS)
    yield* Effect.ignore(scanEvents(accounts, memory, held, tip.slot, { changedSince: mark.slot }));
  if (!held.isComplete)
    yield* scanEvents(accounts, memory, held, tip.slot, { expected: tip.count });
  // An escrow that cannot be decoded still has its leaves. Whether the ledger numbered it, the root says.
  if (!held.isComplete) for (const row of accounts.unreadable.values()) held.addUnreadable(row);
  if (held.isComplete) memory.gapSinceMs = null;
  return held;
});
