import { Clock, Effect } from "effect";
import type { SyncReport } from "../../domain/index/sync-report.ts";
import { decodeClockSysvar } from "../../protocol/accounts/clock-sysvar.ts";
import { CLOCK_SYSVAR } from "../../protocol/addresses/well-known-addresses.ts";
import { EscrowIndex, type SyncCheckpoint } from "../../../ports/escrow-index.ts";
import { Instance } from "../../../ports/instance.ts";
import { Ledger } from "../../../ports/ledger.ts";
import { findEventTransactions } from "./find-event-transactions.ts";
import { IndexAccounts } from "./index-accounts.ts";
import { monotonicMs } from "../monotonic-time.ts";
import { refuseOlder, untrustworthy } from "../refuse-answer.ts";
import { syncChanges } from "./sync-changes.ts";
import type { SyncMemory } from "./sync-memory.ts";
import type { SyncFailure } from "./sync-failure.ts";
import { syncSnapshot } from "./sync-snapshot.ts";
import { takeSnapshot, tryPeriodicSnapshot } from "./take-snapshot.ts";

/** No ledger of this kind has come near so many slots in a second; 2.5 is usual. */
const MOST_SLOTS_A_SECOND = 10;
/** What a wrong clock, or one that was set, may make of the bound: over four days of slots. */
const SLOT_SLACK = 1_000_000n;
/** The first ledger of this kind began on 16 March 2020. */
const FIRST_LEDGER = { slot: 0n, atMs: 1_584_316_800_000 };

/**
 * Refuses a tip that a ledger cannot have reached since the last sync, or ever: a checkpoint that a node made up would
 * keep every honest answer out for as long as the ledger takes to get there.
 */
const refuseImplausible = Effect.fnUntraced(function* (
  slot: bigint,
  checkpoint: Pick<SyncCheckpoint, "slot" | "atMs">,
) {
  yield* refuseOlder(slot, checkpoint.slot);
  const elapsedMs = Math.max(0, (yield* Clock.currentTimeMillis) - checkpoint.atMs);
  const reachable =
    checkpoint.slot + BigInt(Math.ceil((elapsedMs / 1000) * MOST_SLOTS_A_SECOND)) + SLOT_SLACK;
  if (slot > reachable)
    return yield* untrustworthy(`slot ${slot} is beyond what the ledger can have reached`);
});

/** The ledger's clock, and the slot at which it stood so. */
const readClock = Effect.gen(function* () {
  const ledger = yield* Ledger;
  const { slot, value } = yield* ledger.readAccounts([CLOCK_SYSVAR], "finalized");
  const ledgerTime = decodeClockSysvar(value[0] ?? null);
  return ledgerTime === undefined ? yield* untrustworthy("no clock sysvar") : { slot, ledgerTime };
});

/** One reading of the ledger that is in the index whole, up to `slot`. */
type Pass = Pick<SyncReport, "mode" | "slot" | "vanished"> & { readonly accounts: IndexAccounts };

/** What a sync reads against: the tip before it read anything, and what the process remembers. */
type Sync = { readonly tip: bigint; readonly memory: SyncMemory; readonly accounts: IndexAccounts };

/** Writes what waits together with the checkpoint, up to which everything is in the index then. */
const complete = Effect.fnUntraced(function* (
  accounts: IndexAccounts,
  slots: ReadonlyArray<bigint | null>,
) {
  const clock = yield* readClock;
  const slot = slots.reduce<bigint>(
    (low, one) => (one !== null && one < low ? one : low),
    clock.slot,
  );
  const atMs = yield* Clock.currentTimeMillis;
  yield* accounts.write({ checkpoint: { slot, ledgerTime: clock.ledgerTime, atMs } });
  return slot;
});

const bySnapshot = Effect.fnUntraced(function* (
  sync: Sync,
  notBefore: bigint,
): Effect.fn.Return<Pass, SyncFailure, Ledger | EscrowIndex | Instance> {
  const { deployment } = yield* Instance;
  const accounts = new IndexAccounts(deployment, sync.accounts);
  const { slot: read, vanished } = yield* syncSnapshot(accounts, sync.memory, notBefore);
  const slot = yield* complete(accounts, [read, sync.tip]);
  return { mode: "snapshot", slot, vanished, accounts };
});

/** From an index that is complete to `since`: by changes, then by a snapshot when one is due; by that alone without history. */
const onwards = Effect.fnUntraced(function* (
  sync: Sync,
  since: { readonly slot: bigint; readonly rows: number },
) {
  const { accounts, memory, tip } = sync;
  const { snapshots } = memory;
  const isDue = snapshots.isDue(yield* monotonicMs);
  const changes = syncChanges(accounts, memory, since);
  const told = yield* isDue
    ? Effect.catchTags(changes, {
        LedgerUnavailable: () => Effect.succeed(null),
        LedgerTimeout: () => Effect.succeed(null),
      })
    : changes;
  if (told === null) return yield* takeSnapshot(snapshots, bySnapshot(sync, since.slot));
  const slot = yield* complete(accounts, [told.slot, tip]);
  const byChanges: Pass = { mode: "incremental", slot, vanished: told.vanished, accounts };
  if (!isDue) return byChanges;
  return (yield* tryPeriodicSnapshot(snapshots, bySnapshot(sync, slot))) ?? byChanges;
});

/**
 * Brings the index up to the ledger's finalized state: by what its history shows to have changed, or by a
 * snapshot of all accounts when there is no checkpoint yet and when history does not tell or is too long. From time to
 * time a snapshot checks the index besides; when that fails, the sync completes without. Accounts
 * that fail a check are reported and never stored; the checkpoint moves only once everything
 * up to it is applied. Fails with a ledger or store failure, leaving whole batches behind and the checkpoint
 * where it was. See docs/protocol.md, "Index".
 */
export const syncIndex = Effect.fn("syncIndex")(
  function* (run: number, memory: SyncMemory) {
    const startedAtMs = yield* Clock.currentTimeMillis;
    const startedMs = yield* monotonicMs;
    const ledger = yield* Ledger;
    const index = yield* EscrowIndex;
    const { deployment } = yield* Instance;
    const { checkpoint, escrows, merchants } = yield* index.summary;
    // Before anything is read: what is read from here on is at least of this slot.
    const tip = yield* ledger.tip("finalized");
    yield* refuseImplausible(tip.slot, checkpoint ?? FIRST_LEDGER);
    const sync: Sync = { tip: tip.slot, memory, accounts: new IndexAccounts(deployment) };
    const pass =
      checkpoint === null
        ? yield* takeSnapshot(memory.snapshots, bySnapshot(sync, 0n))
        : yield* onwards(sync, { slot: checkpoint.slot, rows: escrows + merchants });
    yield* Effect.catchTags(findEventTransactions(memory), {
      // The sync is complete without; the next one goes on with it.
      LedgerUnavailable: () => Effect.void,
      LedgerTimeout: () => Effect.void,
    });
    const report: SyncReport = {
      id: `sync-${startedAtMs}-${run}`,
      mode: pass.mode,
      slot: pass.slot,
      escrows: pass.accounts.escrows.counts,
      merchants: pass.accounts.merchants.counts,
      eventsAdded: pass.accounts.eventsAdded,
      rejected: pass.accounts.rejected,
      vanished: pass.vanished.slice(0, 100),
      startedAtMs,
      durationMs: Math.max(0, Math.round((yield* monotonicMs) - startedMs)),
    };
    return report;
  },
  (effect, _run, memory) =>
    Effect.ensuring(
      effect,
      Effect.sync(() => {
        memory.progress = null;
      }),
    ),
);
