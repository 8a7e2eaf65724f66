import { Clock, Effect } from "effect";
import type { SyncReport } from "../domain/sync-report.ts";
import { decodeClockSysvar } from "../protocol/clock-sysvar.ts";
import { CLOCK_SYSVAR } from "../protocol/well-known-addresses.ts";
import { EscrowIndex, type SyncMark } from "../../ports/escrow-index.ts";
import { Instance } from "../../ports/instance.ts";
import { Ledger } from "../../ports/ledger.ts";
import { findEventTransactions } from "./find-event-transactions.ts";
import { IndexAccounts } from "./index-accounts.ts";
import { monotonicMs } from "./monotonic-time.ts";
import { refuseOlder, untrustworthy } from "./refuse-answer.ts";
import { syncChanges } from "./sync-changes.ts";
import type { SyncMemory } from "./sync-memory.ts";
import { syncSnapshot } from "./sync-snapshot.ts";

/** A snapshot at least so often, milliseconds: what history failed to tell is found then. */
const SNAPSHOT_EVERY_MS = 3_600_000;
/** No ledger of this kind has come near so many slots in a second; 2.5 is usual. */
const MOST_SLOTS_A_SECOND = 10;
/** What a wrong clock, or one that was set, may make of the bound: over four days of slots. */
const SLOT_SLACK = 1_000_000n;
/** The first ledger of this kind began on 16 March 2020. */
const FIRST_LEDGER = { slot: 0n, atMs: 1_584_316_800_000 };

/**
 * Refuses a tip that a ledger cannot have reached since the last sync, or ever: a mark that a node made up would
 * keep every honest answer out for as long as the ledger takes to get there.
 */
const refuseImplausible = Effect.fnUntraced(function* (
  slot: bigint,
  mark: Pick<SyncMark, "slot" | "atMs">,
) {
  yield* refuseOlder(slot, mark.slot);
  const elapsedMs = Math.max(0, (yield* Clock.currentTimeMillis) - mark.atMs);
  const reachable =
    mark.slot + BigInt(Math.ceil((elapsedMs / 1000) * MOST_SLOTS_A_SECOND)) + SLOT_SLACK;
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

const lowest = (slots: ReadonlyArray<bigint | null>, tip: bigint): bigint =>
  slots.reduce<bigint>((low, slot) => (slot !== null && slot < low ? slot : low), tip);

/**
 * Brings the index up to the ledger's finalized state: by what its history shows to have changed, or by a
 * snapshot of all accounts when there is no mark yet, when history does not tell or is too long, and from
 * time to time. Accounts that fail a check are reported and never stored; the mark moves only once everything
 * up to it is applied. Fails with a ledger or store failure, leaving whole batches behind and the mark
 * where it was. See docs/protocol.md, "Index".
 */
export const syncIndex = Effect.fn("syncIndex")(
  function* (run: number, memory: SyncMemory) {
    const startedAtMs = yield* Clock.currentTimeMillis;
    const startedMs = yield* monotonicMs;
    const ledger = yield* Ledger;
    const index = yield* EscrowIndex;
    const { deployment } = yield* Instance;
    const { mark, escrows, merchants } = yield* index.summary;
    const accounts = new IndexAccounts(deployment);
    // Before anything is read: what is read from here on is at least of this slot.
    const tip = yield* ledger.tip("finalized");
    yield* refuseImplausible(tip.slot, mark ?? FIRST_LEDGER);
    memory.snapshotMs ??= mark === null ? null : startedMs;
    const due = memory.snapshotMs === null || startedMs - memory.snapshotMs >= SNAPSHOT_EVERY_MS;
    const changes =
      mark === null || due
        ? null
        : yield* syncChanges(accounts, memory, { slot: mark.slot, rows: escrows + merchants });
    const read = changes ?? (yield* syncSnapshot(accounts, memory, mark?.slot ?? 0n));
    if (changes === null) memory.snapshotMs = yield* monotonicMs;

    const clock = yield* readClock;
    const slot = lowest([read.slot, clock.slot], tip.slot);
    const atMs = yield* Clock.currentTimeMillis;
    yield* accounts.write({ mark: { slot, ledgerTime: clock.ledgerTime, atMs } });
    yield* Effect.catchTags(findEventTransactions(memory), {
      // The sync is complete without; the next one goes on with it.
      LedgerUnavailable: () => Effect.void,
      LedgerTimeout: () => Effect.void,
    });
    const report: SyncReport = {
      id: `sync-${startedAtMs}-${run}`,
      mode: changes === null ? "snapshot" : "incremental",
      slot,
      escrows: accounts.escrows.counts,
      merchants: accounts.merchants.counts,
      eventsAdded: accounts.eventsAdded,
      rejected: accounts.rejected,
      vanished: read.vanished.slice(0, 100),
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
