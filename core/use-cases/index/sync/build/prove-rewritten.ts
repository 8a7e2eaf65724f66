import { Effect } from "effect";
import { hash32FromBytes } from "../../../../domain/hash32.ts";
import type {
  HistoryHead,
  IndexContradiction,
  RebuildApproval,
} from "../../../../domain/index/index-contradiction.ts";
import type { SyncMark } from "../../../../domain/index/sync-mark.ts";
import { firstHead } from "../../../../log/leaf/event-chain.ts";
import { decodeCustodyConfigAccount } from "../../../../protocol/accounts/custody-config-account.ts";
import { custodyConfigAddress } from "../../../../protocol/addresses/addresses.ts";
import { Instance } from "../../../../../ports/instance.ts";
import { RebuildApprovals } from "../../../../../ports/index/rebuild-approvals.ts";
import { LedgerNodes } from "../../../../../ports/ledger/ledger-nodes.ts";
import { monotonicMs } from "../../../monotonic-time.ts";
import { untrustworthy } from "../../../refuse-answer.ts";
import type { IndexAccounts } from "../index-accounts.ts";
import { type CustodyTip, readCustodyTip } from "../ledger/custody-tip.ts";
import type { SyncMemory } from "../ledger/sync-memory.ts";
import { ComparedHistory } from "./compared-history.ts";
import { isPrefixOfIndex } from "./is-prefix-of-index.ts";
import { proveHistory } from "./prove-history.ts";

/** Between two proofs of a contradiction that nobody has confirmed, milliseconds: each scans the whole ledger. */
const PROVE_AGAIN_MS = 600_000;
/** Nodes that must show another history before it replaces an index without the operator. */
const ENOUGH_NODES = 2;

const unconfirmed = ({ kind, index, ledger, firstDifference }: IndexContradiction) =>
  untrustworthy(
    (kind === "earlier_state"
      ? `the index holds ${index.count} events, and the custody program's ${ledger.count} are the first of them or none`
      : `the ledger shows another history than the index: of its ${ledger.count} events and the index's ${index.count}, the first that differs is among ${firstDifference?.from} to ${firstDifference?.to}`) +
      "; the index stays until two nodes show that history or the operator confirms it (docs/protocol.md, Index)",
  );

/** The state of the custody program that each of several nodes shows; of an only node nothing, since it confirms only itself. */
const shownByNodes = Effect.gen(function* () {
  const nodes = yield* LedgerNodes;
  const { deployment } = yield* Instance;
  if (nodes.count < ENOUGH_NODES) return [];
  const answers = yield* nodes.readFromEach(custodyConfigAddress(deployment).address);
  return answers.flatMap((answer): ReadonlyArray<HistoryHead> => {
    const decoded = answer?.value && decodeCustodyConfigAccount(answer.value, deployment);
    return decoded && "value" in decoded ? [decoded.value] : [];
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
  const start = { count: 0n, head: hash32FromBytes(firstHead()) };
  const history = new ComparedHistory([...wanted, index.count, tip.count]);
  yield* proveHistory(accounts, memory, start, tip, (_numbered, chain) => history.see(chain));
  const shorter = tip.count < index.count ? tip.count : index.count;
  const firstDifference = yield* history.firstDifference(shorter);
  return firstDifference === null ? null : { history, firstDifference };
});

/** The approval, when it is for this index. */
const approvalFor = Effect.fnUntraced(function* (index: SyncMark) {
  const approval: RebuildApproval | null = yield* yield* RebuildApprovals;
  return approval?.replaces === index.head ? approval.by : null;
});

/**
 * The tip of a history that may replace the index: scans prove every event of it, it is another one than the index's, and
 * two of several nodes show it or the operator has approved it. Null when the ledger continues the index. An earlier
 * state of the index's own history takes the operator's approval. Fails as retryable when the scans do not prove the
 * tip or nobody confirms it; what contradicts the index is then in `memory`. Writes nothing.
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
      const ledger = { count: tip.count, head: tip.head };
      memory.contradictionProvedMs = nowMs;
      return (memory.contradiction = {
        ...found,
        index: { count: index.count, head: index.head },
        ledger,
      });
    };
    if (tip.count < index.count && (yield* isPrefixOfIndex(tip))) {
      const contradiction = note({ kind: "earlier_state", firstDifference: null });
      if (approved?.count === tip.count && approved.head === tip.head) return tip;
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
    // Below the last differing number a node may not have come to the difference.
    const differs = (head: HistoryHead) => head.count >= firstDifference.to && history.has(head);
    const isConfirmed =
      (approved !== null && differs(approved)) || shown.filter(differs).length >= ENOUGH_NODES;
    if (!isConfirmed) return yield* unconfirmed(contradiction);
    yield* Effect.logWarning("the index is replaced by another history of the ledger", {
      by: approved === null ? "two nodes" : "the operator",
      index_count: index.count.toString(),
      index_head: index.head,
      ledger_count: tip.count.toString(),
      ledger_head: tip.head,
    });
    return tip;
  },
  // A proof costs a scan of everything. The next one waits for as many contradictions as this one did.
  (effect, _accounts, memory) =>
    Effect.ensuring(
      effect,
      Effect.sync(() => {
        memory.contradictions = 0;
      }),
    ),
);
