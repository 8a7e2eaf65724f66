import { Clock, Effect } from "effect";
import { IndexReader } from "../../../../ports/index/index-reader.ts";
import {
  BackfillCheckpoints,
  FIRST_CHECKPOINT,
  type IndexChanges,
  IndexWriter,
  type Observed,
} from "../../../../ports/index/index-writer.ts";
import { Instance } from "../../../../ports/instance.ts";
import type { Address } from "../../../domain/address.ts";
import type { SyncMark, SyncReport } from "../../../domain/index/sync-report.ts";
import type { Merchant } from "../../../domain/merchant/merchant.ts";
import { monotonicMs } from "../../single-flight.ts";
import { searchArchived } from "./archived/search-archived.ts";
import { buildIndex } from "./build/build-index.ts";
import { proveHistory, proveRewritten } from "./build/prove-history.ts";
import { findEventTransactions } from "./events/find-event-transactions.ts";
import { worthReading } from "./events/gather-events.ts";
import { MostCatchUp, type ProvedEvents, proveEvents } from "./events/prove-events.ts";
import { IndexAccounts } from "./index-accounts.ts";
import { type CustodyTip, readCustodyTip } from "./ledger/custody-tip.ts";
import { type LookAhead, lookAhead } from "./ledger/look-ahead.ts";
import type { SyncMemory } from "./ledger/sync-memory.ts";
import {
  followMerchants,
  isFollowedLately,
  merchantChanges,
  merchantsAhead,
  namedMerchants,
} from "./merchants/follow-merchants.ts";
import { scanMerchants } from "./merchants/scan-merchants.ts";
import { takeSnapshot, tryPeriodicSnapshot } from "./snapshot-schedule.ts";

/** Numbers per store transaction. */
const EVENTS_AT_ONCE = 10_000n;

/** The most escrows of one step that traces are told of. A step with more is catching up, and nobody waits for it. */
const MOST_TRACED = 100;

/**
 * Tells traces that the index holds these escrows, by a span of its own for each: one that belongs to several escrows
 * could be found by none of them. Each has a link to the sync's.
 */
const traceIndexed = Effect.fnUntraced(function* (
  escrows: IndexChanges["escrows"],
  position: bigint,
) {
  const links = [{ span: yield* Effect.orDie(Effect.currentSpan), attributes: {} }];
  for (const { escrow } of escrows.slice(0, MOST_TRACED)) {
    const attributes = { escrow: escrow.address, position: position.toString() };
    yield* Effect.withSpan(Effect.void, "indexEscrow", { root: true, links, attributes });
  }
});

/**
 * Writes proved events to the index, in steps of at most 10,000 with a mark of its own each, and the merchants with the
 * last one. Returns the last mark. Fails like the store, which then stands at one of the marks.
 */
const applyEvents = Effect.fn("applyEvents")(function* (
  accounts: IndexAccounts,
  since: SyncMark,
  { tip, held }: ProvedEvents,
  merchants: ReadonlyArray<Observed<Merchant>>,
) {
  const { apply } = yield* IndexWriter;
  const stops = held.eventsEvery(EVENTS_AT_ONCE, since);
  let from = since.count;
  for (const [at, { count, frontier }] of stops.entries()) {
    const changes = held.changes(from, count);
    const isLast = at === stops.length - 1;
    const atMs = yield* Clock.currentTimeMillis;
    yield* apply({
      ...changes,
      from,
      merchants: isLast ? merchants : [],
      mark: { ...tip, count, frontier, atMs },
    });
    yield* traceIndexed(changes.escrows, count);
    for (const { createdSeq } of [
      ...changes.escrows.map(({ escrow }) => escrow),
      ...changes.unseen,
    ]) {
      if (createdSeq > from) accounts.escrows.created += 1;
      else if (createdSeq <= since.count) accounts.escrows.updated += 1;
    }
    from = count;
  }
  const atMs = yield* Clock.currentTimeMillis;
  const mark: SyncMark = { ...tip, atMs };
  return mark;
});

/** Contradictions, one sync after the other, after which scans decide whether the ledger was rewritten. */
const MOST_CONTRADICTIONS = 3;

/** What one pass over the ledger did. */
type Pass = Pick<SyncReport, "mode" | "eventsAdded"> & {
  readonly mark: SyncMark;
  readonly vanished: ReadonlyArray<Address>;
};

const anew = Effect.fnUntraced(function* (
  accounts: IndexAccounts,
  memory: SyncMemory,
  tip: CustodyTip,
  isFirst: boolean,
) {
  const { snapshots } = memory;
  const mark = yield* takeSnapshot(snapshots, buildIndex(accounts, memory, tip, isFirst));
  memory.contradictions = 0;
  memory.contradiction = null;
  memory.searchedTo = 0n;
  const checkpoints = yield* BackfillCheckpoints;
  yield* checkpoints.save(FIRST_CHECKPOINT);
  const { escrows, unseen, merchants } = yield* IndexReader.use(({ summary }) => summary);
  accounts.escrows.created = escrows + unseen;
  accounts.merchants.created = merchants;
  return { mode: "snapshot", mark, vanished: [], eventsAdded: Number(mark.count) } satisfies Pass;
});

/**
 * The tip of which the index is built anew, null to continue it. A build replaces it, so scans prove the tip first, and
 * another history needs a second node or the operator as well. Fails when that is not given.
 */
const tipToBuild = Effect.fnUntraced(function* (
  accounts: IndexAccounts,
  memory: SyncMemory,
  since: SyncMark,
  tip: CustodyTip,
) {
  if (memory.contradictions >= MOST_CONTRADICTIONS) {
    const other = yield* proveRewritten(accounts, memory, since);
    if (other !== null) return other;
  }
  if (tip.count - since.count <= (yield* MostCatchUp)) return null;
  // The ledger may have been rewritten. Only a proof of its whole history shows it then.
  yield* Effect.tapError(proveHistory(accounts, memory, since, tip), () =>
    Effect.sync(() => {
      memory.contradictions += 1;
    }),
  );
  return tip;
});

/** Records whether some node keeps history, and logs a change. */
const tellHistory = (memory: SyncMemory, hasHistory: boolean) =>
  Effect.suspend(() => {
    if (memory.hasHistory === hasHistory) return Effect.void;
    memory.hasHistory = hasHistory;
    return hasHistory
      ? Effect.logInfo("a node keeps transaction history again")
      : Effect.logWarning("no node keeps transaction history; scans keep the index up");
  });

/** Continues an index at `since`: its events first, then its merchants, from history and now and then from a scan. */
const onwards = Effect.fnUntraced(function* (
  accounts: IndexAccounts,
  memory: SyncMemory,
  since: SyncMark,
  first: CustodyTip,
  ahead: LookAhead | null = null,
) {
  const { snapshots } = memory;
  const { escrows, merchants } = yield* IndexReader.use(({ summary }) => summary);
  const rows = escrows + merchants;
  const isDue = snapshots.isDue(yield* monotonicMs);
  const shown =
    ahead === null ? null : { ahead, rows: accounts.decode(first.slot, ahead.accounts) };
  const proved = yield* proveEvents(accounts, memory, { mark: since, rows, first, shown });
  const isLate =
    shown === null || shown.ahead.leavesMerchants || isDue || !isFollowedLately(memory, first);
  const following = isLate
    ? followMerchants(accounts, memory, since, worthReading(rows))
    : merchantsAhead(shown.rows, memory, shown.ahead);
  const followed = yield* following.pipe(
    Effect.tap(() => (isLate ? tellHistory(memory, true) : Effect.void)),
    Effect.catchTags({
      LedgerUnavailable: (failure) =>
        // Waiting does not help when no node keeps history.
        failure.retryable
          ? isDue
            ? Effect.succeed(null)
            : Effect.fail(failure)
          : Effect.as(tellHistory(memory, false), null),
      LedgerTimeout: (failure) => (isDue ? Effect.succeed(null) : Effect.fail(failure)),
    }),
  );
  const followedRows = followed?.observed ?? [];
  const seen = new Set(followedRows.map(({ row }) => row.wallet));
  const wallets = proved.held
    .changes(since.count, proved.tip.count)
    .escrows.filter(({ escrow }) => escrow.createdSeq > since.count && !seen.has(escrow.merchant))
    .map(({ escrow }) => escrow.merchant);
  const named = yield* namedMerchants(accounts, wallets, since.slot);
  const changes = yield* merchantChanges(accounts, [...followedRows, ...named]);
  const mark = yield* applyEvents(accounts, since, proved, changes);
  followed?.applied();
  if (isLate && followed !== null) memory.merchantsTo = first.slot;
  const { deployment } = yield* Instance;
  memory.told.forgetUpTo(deployment.custodyProgram, mark.slot);
  memory.transactions.forget();
  for (const row of proved.held.changes(since.count, mark.count).unseen) memory.unseen.add(row);
  const scan = scanMerchants(accounts, memory, mark);
  const isScanDue = memory.hasHistory ? isDue : snapshots.isDueWithoutHistory(yield* monotonicMs);
  // A scan that stands in for a history, or for which somebody waits, must succeed. One that comes by its interval need
  // not.
  const mustScan = snapshots.isDemanded || (followed === null && memory.hasHistory);
  const vanished = mustScan
    ? yield* takeSnapshot(snapshots, scan)
    : isScanDue
      ? yield* tryPeriodicSnapshot(snapshots, scan)
      : null;
  const pass: Pass = {
    mode: mustScan || (isScanDue && followed === null) ? "snapshot" : "incremental",
    mark,
    vanished: vanished ?? [],
    eventsAdded: Number(mark.count - since.count),
  };
  return pass;
});

/** As `anew`, and then onwards: a build that was cut off ends where it began, below the tip. */
const anewTo = Effect.fnUntraced(function* (
  accounts: IndexAccounts,
  memory: SyncMemory,
  tip: CustodyTip,
  isFirst: boolean,
) {
  const built = yield* anew(accounts, memory, tip, isFirst);
  if (built.mark.count >= tip.count) return built;
  const { mark, vanished } = yield* onwards(accounts, memory, built.mark, tip);
  return { mode: "snapshot", mark, vanished, eventsAdded: Number(mark.count) } satisfies Pass;
});

/**
 * Brings the index to the state after the last event that the custody program's finalized config counts. The first sync
 * builds it from scans; later ones follow the config's history. Either way the log of all events has the
 * config's root, and without that nothing is written. Invalid accounts are reported and never stored. A sync that nobody
 * awaits looks at the ledger with one read, and goes on where that shows a change. `afterSync` runs
 * once the index stands at its new mark. Fails with a ledger or store failure, which leaves the index at a mark. See
 * docs/reading.md, "Index".
 */
export const syncIndex = Effect.fn("syncIndex")(
  function* (
    run: number,
    memory: SyncMemory,
    afterSync: (mark: SyncMark) => Effect.Effect<void>,
    isAwaited = true,
  ) {
    const startedAtMs = yield* Clock.currentTimeMillis;
    const startedMs = yield* monotonicMs;
    const index = yield* IndexReader;
    const { deployment } = yield* Instance;
    const { mark: since } = yield* index.summary;
    const ahead = isAwaited || since === null ? null : yield* lookAhead(memory, since);
    const tip = ahead?.tip ?? (yield* readCustodyTip(since));
    const accounts = new IndexAccounts(deployment, tip.slot);
    const whole = since === null ? tip : yield* tipToBuild(accounts, memory, since, tip);
    const pass =
      since === null || whole !== null
        ? yield* anewTo(accounts, memory, whole ?? tip, since === null)
        : yield* onwards(accounts, memory, since, tip, ahead);
    const { mark } = pass;
    yield* afterSync(mark);
    yield* searchArchived(memory, mark.count);
    yield* Effect.catchTags(findEventTransactions(memory, mark.count), {
      // The sync is complete without them. The next one continues the search.
      LedgerUnavailable: () => Effect.void,
      LedgerTimeout: () => Effect.void,
    });
    const { unseen } = yield* index.summary;
    const report: SyncReport = {
      id: `sync-${startedAtMs}-${run}`,
      mode: pass.mode,
      slot: mark.slot,
      count: mark.count,
      escrows: accounts.escrows.counts,
      merchants: accounts.merchants.counts,
      eventsAdded: pass.eventsAdded,
      rejected: accounts.rejected,
      vanished: pass.vanished,
      unseen,
      startedAtMs,
      durationMs: Math.max(0, Math.round((yield* monotonicMs) - startedMs)),
    };
    return report;
  },
  (effect, _run: number, memory: SyncMemory) =>
    Effect.ensuring(
      effect,
      Effect.sync(() => {
        memory.progress = null;
      }),
    ),
);
