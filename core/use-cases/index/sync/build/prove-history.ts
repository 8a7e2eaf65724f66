import { Effect } from "effect";
import { RebuildApprovals } from "../../../../../ports/index/index-news.ts";
import { Instance } from "../../../../../ports/instance.ts";
import { LedgerNodes } from "../../../../../ports/ledger/ledger.ts";
import { LogStore } from "../../../../../ports/log/log-store.ts";
import type { Hash32 } from "../../../../domain/hash32.ts";
import type {
  HistoryHead,
  IndexContradiction,
  LoggedEvents,
  RebuildApproval,
  SyncMark,
} from "../../../../domain/index/sync-report.ts";
import { leavesOfEscrow, type NumberedLeaf } from "../../../../log/leaf/escrow-leaves.ts";
import { leavesOfUnseen } from "../../../../log/leaf/indexed-leaves.ts";
import { LeafTree } from "../../../../log/leaf/leaf-tree.ts";
import { rootOf } from "../../../../log/tree/frontier.ts";
import { decodeCustodyConfigAccount } from "../../../../protocol/accounts/settings-accounts.ts";
import { indexedKinds } from "../../../../protocol/accounts/program-account.ts";
import { custodyConfigAddress } from "../../../../protocol/addresses/addresses.ts";
import { monotonicMs } from "../../../single-flight.ts";
import { untrustworthy } from "../../../or-ask-another.ts";
import { eventsContradict, eventsMissing } from "../sync-failure.ts";
import { LeafWindow } from "../events/prove-events.ts";
import type { IndexAccounts } from "../index-accounts.ts";
import {
  type CustodyTip,
  ledgerBeginning,
  readCustodyTip,
  scanAccounts,
} from "../ledger/custody-tip.ts";
import type { SyncMemory } from "../ledger/sync-memory.ts";

/** The log's roots are kept at every number of this kind: 64 bytes for each such stretch of events. */
const STEP = 256;

/** The roots of a log from the first event on, at every 256th number and at those that are asked for. */
class ComparedHistory {
  readonly #beginning: LoggedEvents;
  readonly #roots = new Map<bigint, Hash32>();
  readonly #wanted: ReadonlySet<bigint>;

  constructor(beginning: LoggedEvents, wanted: Iterable<bigint>) {
    this.#beginning = beginning;
    this.#wanted = new Set(wanted);
  }

  /** Notes where the log stands after its last leaf. */
  see(tree: LeafTree): void {
    const { last } = tree;
    if (last % BigInt(STEP) === 0n || this.#wanted.has(last)) this.#roots.set(last, tree.root);
  }

  /** Whether the log had this root at this number of events. False for a number at which no root was kept. */
  has({ count, root }: HistoryHead): boolean {
    return this.#roots.get(count) === root;
  }

  /**
   * The first and the last of the numbers, at most 256, among which the log first differs from the index; null when it
   * does not differ up to `count`. Fails like the store.
   */
  firstDifference(count: bigint) {
    return Effect.gen({ self: this }, function* () {
      const log = yield* LogStore;
      const tree = new LeafTree(this.#beginning);
      while (tree.last < count) {
        const from = tree.last + 1n;
        const rest = count - tree.last;
        const limit = rest < BigInt(STEP) ? Number(rest) : STEP;
        const leaves = yield* log.leaves(from, limit);
        for (const leaf of leaves) tree.add(tree.last + 1n, leaf);
        const to = tree.last;
        if (leaves.length < limit || !this.has({ count: to, root: tree.root }))
          return { from, to: to < from ? from : to };
      }
      return null;
    });
  }
}

/** Leaves per read of the store. */
const LEAVES_AT_ONCE = 1000;

/**
 * Whether these are the first events of the index, which holds at least as many. Fails like the ledger and the store.
 */
const isPrefixOfIndex = Effect.fn("isPrefixOfIndex")(function* (events: LoggedEvents) {
  const log = yield* LogStore;
  const tree = new LeafTree(yield* ledgerBeginning);
  while (tree.last < events.count) {
    const rest = events.count - tree.last;
    const limit = rest < BigInt(LEAVES_AT_ONCE) ? Number(rest) : LEAVES_AT_ONCE;
    const leaves = yield* log.leaves(tree.last + 1n, limit);
    if (leaves.length === 0) return false;
    for (const leaf of leaves) tree.add(tree.last + 1n, leaf);
  }
  return tree.root === rootOf(events);
});

/** Leaves held at once, 66 MB. More events take one scan for each million of them. */
const WINDOW = 1_000_000n;

/** Reads all escrows and tombstones at `slot` or later, and keeps the window's leaves. */
const scanLeaves = Effect.fnUntraced(function* (
  accounts: IndexAccounts,
  memory: SyncMemory,
  window: LeafWindow,
  slot: bigint,
) {
  const { deployment } = yield* Instance;
  const kinds = indexedKinds(deployment).filter(
    ({ program }) => program === deployment.custodyProgram,
  );
  const concerns = (createdSeq: bigint, settledSeq: bigint | null) =>
    window.has(createdSeq) || (settledSeq !== null && window.has(settledSeq));
  yield* scanAccounts(accounts, kinds, slot, ({ escrows, unseen }) =>
    Effect.sync(() => {
      for (const { escrow, data } of escrows)
        if (concerns(escrow.createdSeq, escrow.settledSeq))
          for (const leaf of leavesOfEscrow(escrow, data)) window.add(leaf);
      for (const row of unseen)
        if (concerns(row.createdSeq, row.settledSeq))
          for (const leaf of leavesOfUnseen(row)) window.add(leaf);
      memory.progress = { phase: "accounts", done: accounts.read, total: null };
    }),
  );
});

/**
 * Succeeds when scans show every event above `after` and up to the tip's count, and with their leaves the log of
 * `after` comes to the tip's root. Shows `see` each leaf in ascending order, with the log that ends in it. Writes
 * nothing. Fails as retryable with the numbers that are missing or contradict each other, and like the ledger.
 */
export const proveHistory = Effect.fn("proveHistory")(function* (
  accounts: IndexAccounts,
  memory: SyncMemory,
  after: LoggedEvents,
  tip: CustodyTip,
  see: (numbered: NumberedLeaf, tree: LeafTree) => void = () => undefined,
) {
  const tree = new LeafTree(after);
  for (let from = after.count; from < tip.count; from += WINDOW) {
    const to = tip.count - from > WINDOW ? from + WINDOW : tip.count;
    const window = new LeafWindow(from, to);
    yield* scanLeaves(accounts, memory, window, tip.slot);
    if (window.contradicted !== null) return yield* eventsContradict(window.contradicted);
    for (const row of window.missing > 0n ? accounts.unreadable.values() : []) {
      const leaves = leavesOfUnseen(row).filter(({ seq }) => window.has(seq));
      if (leaves.every(({ seq }) => window.lacks(seq))) for (const leaf of leaves) window.add(leaf);
    }
    if (window.missing > 0n)
      return yield* eventsMissing(window.missing, window.firstMissing, accounts.rejected);
    for (const numbered of window.leaves()) {
      tree.add(numbered.seq, numbered.leaf);
      see(numbered, tree);
    }
  }
  if (tree.root !== rootOf(tip))
    return yield* eventsContradict({ from: after.count, to: tip.count });
});

/** Between two proofs of a contradiction that nobody has confirmed, milliseconds: each scans the whole ledger. */
const PROVE_AGAIN_MS = 600_000;
/** Nodes that must show another history before it replaces an index without the operator. */
const ENOUGH_NODES = 2;

const unconfirmed = ({ kind, index, ledger, firstDifference }: IndexContradiction) =>
  untrustworthy(
    (kind === "earlier_state"
      ? `the index holds ${index.count} events, and the custody program's ${ledger.count} are the first of them or none`
      : `the ledger shows another history than the index: of its ${ledger.count} events and the index's ${index.count}, the first that differs is among ${firstDifference?.from} to ${firstDifference?.to}`) +
      "; the index stays until two nodes show that history or the operator confirms it (docs/reading.md, Index)",
  );

const headOf = (events: LoggedEvents): HistoryHead => ({
  count: events.count,
  root: rootOf(events),
});

/**
 * The state of the custody program that each of several nodes shows; of an only node nothing, since it confirms only
 * itself.
 */
const shownByNodes = Effect.gen(function* () {
  const nodes = yield* LedgerNodes;
  const { deployment } = yield* Instance;
  if (nodes.count < ENOUGH_NODES) return [];
  const answers = yield* nodes.readFromEach(custodyConfigAddress(deployment).address);
  return answers.flatMap((answer): ReadonlyArray<HistoryHead> => {
    const decoded = answer?.value && decodeCustodyConfigAccount(answer.value, deployment);
    return decoded && "value" in decoded ? [headOf(decoded.value)] : [];
  });
});

/** Compares the ledger's history with the index's. Null when it continues that one. */
const compare = Effect.fnUntraced(function* (
  accounts: IndexAccounts,
  memory: SyncMemory,
  index: SyncMark,
  tip: CustodyTip,
  wanted: Iterable<bigint>,
) {
  const start = yield* ledgerBeginning;
  const history = new ComparedHistory(start, [...wanted, index.count, tip.count]);
  yield* proveHistory(accounts, memory, start, tip, (_numbered, tree) => history.see(tree));
  const shorter = tip.count < index.count ? tip.count : index.count;
  const firstDifference = yield* history.firstDifference(shorter);
  return firstDifference === null ? null : { history, firstDifference };
});

/** The approval, when it is for this index. */
const approvalFor = Effect.fnUntraced(function* (index: SyncMark) {
  const approval: RebuildApproval | null = yield* yield* RebuildApprovals;
  return approval?.replaces === rootOf(index) ? approval.by : null;
});

/**
 * The tip of a history that may replace the index: scans prove every event of it, it is another one than the index's,
 * and two of several nodes show it or the operator has approved it. Null when the ledger continues the index. An
 * earlier state of the index's own history takes the operator's approval. Fails as retryable when the scans do not
 * prove the tip or nobody confirms it; what contradicts the index is then in `memory`. Writes nothing.
 */
export const proveRewritten = Effect.fn("proveRewritten")(
  function* (accounts: IndexAccounts, memory: SyncMemory, index: SyncMark) {
    const nowMs = yield* monotonicMs;
    const approved = yield* approvalFor(index);
    const shown = yield* shownByNodes;
    const known = memory.contradiction;
    if (known !== null && approved === null && shown.length < ENOUGH_NODES)
      if (nowMs - (memory.contradictionProvedMs ?? nowMs) < PROVE_AGAIN_MS)
        return yield* unconfirmed(known);
    // It is read after the nodes, so that what they show is part of its history.
    const tip = yield* readCustodyTip(index);
    const note = (found: Pick<IndexContradiction, "kind" | "firstDifference">) => {
      memory.contradictionProvedMs = nowMs;
      return (memory.contradiction = { ...found, index: headOf(index), ledger: headOf(tip) });
    };
    if (tip.count < index.count && (yield* isPrefixOfIndex(tip))) {
      const contradiction = note({ kind: "earlier_state", firstDifference: null });
      if (approved?.count === tip.count && approved.root === rootOf(tip)) return tip;
      return yield* unconfirmed(contradiction);
    }
    const wanted = [...shown.map(({ count }) => count), ...(approved ? [approved.count] : [])];
    const compared = yield* compare(accounts, memory, index, tip, wanted);
    if (compared === null) {
      memory.contradiction = null;
      return null;
    }
    const { history, firstDifference } = compared;
    const contradiction = note({ kind: "another_history", firstDifference });
    // A node that shows fewer events may not have come to the first one that differs.
    const differs = (head: HistoryHead) => head.count >= firstDifference.to && history.has(head);
    const isConfirmed =
      (approved !== null && differs(approved)) || shown.filter(differs).length >= ENOUGH_NODES;
    if (!isConfirmed) return yield* unconfirmed(contradiction);
    yield* Effect.logWarning("the index is replaced by another history of the ledger", {
      by: approved === null ? "two nodes" : "the operator",
      index_count: index.count.toString(),
      index_root: rootOf(index),
      ledger_count: tip.count.toString(),
      ledger_root: rootOf(tip),
    });
    return tip;
  },
  // A proof costs a scan of everything, so contradictions are counted from zero again before the next one.
  (effect, _accounts, memory) =>
    Effect.ensuring(
      effect,
      Effect.sync(() => {
        memory.contradictions = 0;
      }),
    ),
);
