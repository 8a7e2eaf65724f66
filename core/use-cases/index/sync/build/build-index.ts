import { Clock, Effect, Stream } from "effect";
import {
  type IndexBuild,
  IndexWriter,
  type Observed,
} from "../../../../../ports/index/index-writer.ts";
import {
  OpenSnapshotSpool,
  type SnapshotSpool,
  type SnapshotTip,
} from "../../../../../ports/index/snapshot-spool.ts";
import { Instance } from "../../../../../ports/instance.ts";
import { Ledger, type ScannedAccounts } from "../../../../../ports/ledger/ledger.ts";
import type { Address } from "../../../../domain/address.ts";
import type { IndexedEscrow, UnseenEscrow } from "../../../../domain/index/indexed-escrow.ts";
import type { SyncMark } from "../../../../domain/index/sync-report.ts";
import type { AccountKind } from "../../../../domain/ledger/account.ts";
import type { Merchant } from "../../../../domain/merchant/merchant.ts";
import { indexedEscrowOf, projectAt, projectUnseenAt } from "../../../../log/leaf/escrow-rows.ts";
import { leavesOfUnseen } from "../../../../log/leaf/indexed-leaves.ts";
import { LeafTree } from "../../../../log/leaf/leaf-tree.ts";
import { rootOf } from "../../../../log/tree/frontier.ts";
import { ARCHIVED_ESCROW_LENGTH } from "../../../../protocol/accounts/archived-escrow-account.ts";
import { indexedKinds } from "../../../../protocol/accounts/program-account.ts";
import { refuseOlder } from "../../../or-ask-another.ts";
import { eventsContradict, eventsMissing } from "../sync-failure.ts";
import type { IndexAccounts, ReadRows } from "../index-accounts.ts";
import { type CustodyTip, ledgerBeginning } from "../ledger/custody-tip.ts";
import type { SyncMemory } from "../ledger/sync-memory.ts";

/**
 * The scans of one snapshot, which keep what they fetch in a spool. `replay` shows `use` what an earlier process kept;
 * `scan(n)` then runs the nth scan from where that process stopped, all kinds in order. Answers below the tip's slot
 * are refused. Both fail like the ledger or like `use`.
 */
const spooledScan = <E, R>(
  accounts: IndexAccounts,
  kinds: ReadonlyArray<AccountKind>,
  spool: SnapshotSpool,
  use: (rows: ReadRows) => Effect.Effect<void, E, R>,
) => {
  const { tip } = spool;
  let newest = tip.slot;
  const take = (kind: AccountKind | undefined, { slot, value }: ScannedAccounts) =>
    Effect.suspend(() => {
      newest = slot > newest ? slot : newest;
      return use(accounts.decode(slot, value, kind?.program));
    });
  const replay = Stream.runForEach(spool.kept, (chunk) => take(kinds[chunk.kind], chunk));
  const scan = Effect.fn("spooledScan")(function* (number: number) {
    const ledger = yield* Ledger;
    const from = yield* spool.position;
    if (from.scan > number) return;
    for (const [at, kind] of kinds.entries()) {
      const isFrom = from.scan === number && from.kind === at;
      if (from.scan === number && at < from.kind) continue;
      // Tombstones come last, and not from before the escrows: nothing that is archived meanwhile is in neither.
      const floor = kind.length === ARCHIVED_ESCROW_LENGTH ? newest : tip.slot;
      const place = { scan: number, kind: at };
      const options = {
        expected: tip.count,
        notBefore: floor,
        ...(isFrom && from.after !== null ? { after: from.after } : {}),
      };
      yield* Stream.runForEach(ledger.programAccounts(kind, options), (chunk) =>
        Effect.gen(function* () {
          yield* refuseOlder(chunk.slot, floor);
          yield* spool.add(place, chunk);
          yield* take(kind, chunk);
        }),
      );
      yield* spool.ended(place);
    }
  });
  return { replay, scan };
};

/** Scans of one build. Another node may answer the next one, and show what the first left out. */
const SCANS = 3;
/** The most events by which a kept snapshot may be behind. The sync after it catches up from history. */
const MOST_BEHIND = 100_000n;
/** Rows per write: large batches are several times as fast as small ones, and this many fit in memory. */
const BATCH_ROWS = 10_000;

/** Why the leaves are not those of the tip, null when they are. */
const faultOf = (accounts: IndexAccounts, tree: LeafTree, tip: SnapshotTip) => {
  const { count } = tip;
  if (tree.contradicted !== null) return eventsContradict(tree.contradicted);
  const missing = tree.missingTo(count);
  if (missing > 0n) return eventsMissing(missing, tree.missing, accounts.rejected);
  return tree.root === rootOf(tip) ? null : eventsContradict({ from: 0n, to: count });
};

/**
 * The escrows that could not be decoded, as they were at a count, of which no event is among the build's. Whether the
 * ledger numbered them, the root says.
 */
const unreadableIn = Effect.fnUntraced(function* (
  accounts: IndexAccounts,
  build: IndexBuild,
  count: bigint,
) {
  const rows = [...accounts.unreadable.values()].flatMap(
    (row) => projectUnseenAt(row, count) ?? [],
  );
  const wanted = new Set(rows.flatMap(leavesOfUnseen).map(({ seq }) => seq));
  const held = new Set<bigint>();
  yield* build.leaves((seq) => {
    if (wanted.has(seq)) held.add(seq);
  });
  return rows.filter((row) => !leavesOfUnseen(row).some(({ seq }) => held.has(seq)));
});

/**
 * Builds the index anew at the tip's count, from scans of all accounts at its slot or later. Complete once every leaf
 * is there and their log has the tip's root. Fails, and leaves the index as it was, when three scans do not give that.
 * A first build that was cut off goes on with the accounts that it kept, at the count and root that it began with; its
 * mark is older than the tip then.
 */
export const buildIndex = Effect.fn("buildIndex")(function* (
  accounts: IndexAccounts,
  memory: SyncMemory,
  newest: CustodyTip,
  isFirst: boolean,
) {
  const { deployment } = yield* Instance;
  const nothing = yield* ledgerBeginning;
  const { build: begin } = yield* IndexWriter;
  const open = yield* OpenSnapshotSpool;
  // An index is replaced only by the history that was approved.
  const isUsable = (kept: SnapshotTip) =>
    kept.slot <= newest.slot &&
    (isFirst
      ? kept.count <= newest.count && newest.count - kept.count <= MOST_BEHIND
      : kept.count === newest.count && rootOf(kept) === rootOf(newest));
  const spool = yield* open(newest, isUsable);
  const { tip } = spool;
  const build = yield* begin;
  const merchants = new Map<Address, Observed<Merchant>>();
  let escrows: Array<IndexedEscrow> = [];
  let unseen: Array<UnseenEscrow> = [];

  const write = Effect.suspend(() => {
    const rows = { escrows, unseen, merchants: [] };
    [escrows, unseen] = [[], []];
    return build.add(rows);
  });
  const take = (rows: ReadRows) =>
    Effect.suspend(() => {
      for (const { escrow, data } of rows.escrows) {
        const row = projectAt(indexedEscrowOf(escrow, data), tip.count);
        if (row !== null) escrows.push(row);
      }
      for (const tombstone of rows.unseen) {
        const row = projectUnseenAt(tombstone, tip.count);
        if (row !== null) unseen.push(row);
      }
      for (const observed of rows.merchants) {
        const known = merchants.get(observed.row.address);
        if (known === undefined || known.slot <= observed.slot)
          merchants.set(observed.row.address, observed);
      }
      memory.progress = { phase: "accounts", done: accounts.read, total: null };
      return escrows.length + unseen.length >= BATCH_ROWS ? write : Effect.void;
    });

  const judge = Effect.gen(function* () {
    const tree = new LeafTree(nothing);
    yield* build.leaves(tree.add);
    return faultOf(accounts, tree, tip);
  });

  const scans = spooledScan(accounts, indexedKinds(deployment), spool, take);
  yield* scans.replay;
  for (let scan = (yield* spool.position).scan; ; scan++) {
    yield* scans.scan(scan);
    yield* write;
    let fault = yield* judge;
    if (fault !== null && accounts.unreadable.size > 0) {
      unseen = yield* unreadableIn(accounts, build, tip.count);
      yield* write;
      fault = yield* judge;
    }
    if (fault === null) break;
    if (scan >= SCANS) {
      yield* spool.clear;
      return yield* fault;
    }
  }
  yield* build.add({ escrows: [], unseen: [], merchants: [...merchants.values()] });
  const atMs = yield* Clock.currentTimeMillis;
  const mark: SyncMark = { ...tip, atMs };
  yield* build.finish(mark);
  yield* spool.clear;
  return mark;
}, Effect.scoped);
