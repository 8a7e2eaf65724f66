import { Effect } from "effect";
import { hash32ToBytes } from "../../../../domain/hash32.ts";
import type { SyncMark } from "../../../../domain/index/sync-mark.ts";
import { leavesOfEscrow, type NumberedLeaf } from "../../../../log/leaf/escrow-leaves.ts";
import { leavesOfUnseen } from "../../../../log/leaf/indexed-leaves.ts";
import { LeafChain } from "../../../../log/leaf/leaf-chain.ts";
import { indexedKinds } from "../../../../protocol/accounts/indexed-kinds.ts";
import { Instance } from "../../../../../ports/instance.ts";
import type { CustodyTip } from "../ledger/custody-tip.ts";
import { eventsContradict, eventsMissing } from "../events/event-failures.ts";
import type { IndexAccounts } from "../index-accounts.ts";
import { LeafWindow } from "../events/leaf-window.ts";
import { scanAccounts } from "../ledger/scan-accounts.ts";
import type { SyncMemory } from "../ledger/sync-memory.ts";

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
 * Succeeds when scans show every event above `after` and up to the tip's count, and their leaves chain from its head to
 * the tip's. Shows `see` each leaf in ascending order, with the chain that ends in it. Writes nothing. Fails as retryable
 * with the numbers that are missing or contradict each other, and like the ledger.
 */
export const proveHistory = Effect.fn("proveHistory")(function* (
  accounts: IndexAccounts,
  memory: SyncMemory,
  after: Pick<SyncMark, "count" | "head">,
  tip: CustodyTip,
  see: (numbered: NumberedLeaf, chain: LeafChain) => void = () => undefined,
) {
  const chain = new LeafChain(after.count, hash32ToBytes(after.head));
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
      chain.add(numbered.seq, numbered.leaf);
      see(numbered, chain);
    }
  }
  if (chain.head !== tip.head) return yield* eventsContradict({ from: after.count, to: tip.count });
});
