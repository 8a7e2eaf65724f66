import { Clock, Effect } from "effect";
import type { SyncReport } from "../../../domain/index/sync-report.ts";
import { decodeClockSysvar } from "../../../protocol/accounts/clock-sysvar.ts";
import { CLOCK_SYSVAR } from "../../../protocol/addresses/well-known-addresses.ts";
import { EscrowIndex, type SyncCheckpoint } from "../../../../ports/escrow-index.ts";
import { Instance } from "../../../../ports/instance.ts";
import { Ledger } from "../../../../ports/ledger.ts";
import { searchArchived } from "./search-archived.ts";
import { findEventTransactions } from "./find-event-transactions.ts";
import { IndexAccounts } from "./index-accounts.ts";
import { monotonicMs } from "../../monotonic-time.ts";
import { refuseOlder, untrustworthy } from "../../refuse-answer.ts";
import { syncChanges } from "./sync-changes.ts";
import type { SyncMemory } from "./sync-memory.ts";
import type { SyncFailure } from "./sync-failure.ts";
import { syncSnapshot } from "./sync-snapshot.ts";
import { takeSnapshot, tryPeriodicSnapshot } from "./take-snapshot.ts";

/** No ledger of this kind has come near this speed; 2.5 slots a second is usual. */
const MOST_SLOTS_A_SECOND = 10;
/** Tolerance for a wrong or adjusted clock: over four days of slots. */
const SLOT_SLACK = 1_000_000n;
/** The first ledger of this kind began on 16 March 2020. */
const FIRST_LEDGER = { slot: 0n, atMs: 1_584_316_800_000 };

/**
 * Refuses a tip that the ledger cannot have reached since the last sync. An invented checkpoint would keep every honest
 * answer out until the ledger gets there.
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

/** The ledger's clock and the slot it was read at. */
const readClock = Effect.gen(function* () {
  const ledger = yield* Ledger;
  const { slot, value } = yield* ledger.readAccounts([CLOCK_SYSVAR], "finalized");
  const ledgerTime = decodeClockSysvar(value[0] ?? null);
  return ledgerTime === undefined ? yield* untrustworthy("no clock sysvar") : { slot, ledgerTime };
});

/** One pass over the ledger. The index holds all of it up to `slot`. */
type Pass = Pick<SyncReport, "mode" | "slot" | "vanished"> & { readonly accounts: IndexAccounts };

/** The state of one sync: the tip before its first read, the process's memory, and the accounts. */
type Sync = { readonly tip: bigint; readonly memory: SyncMemory; readonly accounts: IndexAccounts };

/** Writes the kept rows together with the checkpoint. Everything up to the checkpoint is then in the index. */
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

/**
 * Continues an index that is complete up to `since`. Applies changes, and then a snapshot if one is due. Without
 * history, takes a snapshot alone.
 */
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
 * Brings the index up to the ledger's finalized state. A sync applies the changes that history shows. It takes a
 * snapshot of all accounts instead when there is no checkpoint yet, or when history is incomplete or too long. From
 * time to time an extra snapshot checks the index; the sync completes even if that fails. Invalid accounts are reported
 * and never stored. The checkpoint moves once everything up to it is applied. Fails with a ledger or store failure,
 * which leaves whole batches and the old checkpoint. See docs/protocol.md, "Index".
 */
export const syncIndex = Effect.fn("syncIndex")(
  function* (run: number, memory: SyncMemory) {
    const startedAtMs = yield* Clock.currentTimeMillis;
    const startedMs = yield* monotonicMs;
    const ledger = yield* Ledger;
    const index = yield* EscrowIndex;
    const { deployment } = yield* Instance;
    const { checkpoint, escrows, merchants } = yield* index.summary;
    // Read first, so that every later read is of this slot or a newer one.
    const tip = yield* ledger.tip("finalized");
    yield* refuseImplausible(tip.slot, checkpoint ?? FIRST_LEDGER);
    const sync: Sync = { tip: tip.slot, memory, accounts: new IndexAccounts(deployment) };
    const pass =
      checkpoint === null
        ? yield* takeSnapshot(memory.snapshots, bySnapshot(sync, 0n))
        : yield* onwards(sync, { slot: checkpoint.slot, rows: escrows + merchants });
    yield* searchArchived(pass.accounts, memory);
    yield* Effect.catchTags(findEventTransactions(memory), {
      // The sync is complete without them. The next one continues the search.
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
      unseen: memory.unseen.size,
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
