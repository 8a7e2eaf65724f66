import { Clock, Effect } from "effect";
import type { Address } from "../../../../domain/address.ts";
import type { IndexedEscrow, UnseenEscrow } from "../../../../domain/index/indexed-escrow.ts";
import type { SyncMark } from "../../../../domain/index/sync-mark.ts";
import type { Merchant } from "../../../../domain/merchant/merchant.ts";
import { firstHead } from "../../../../log/leaf/event-chain.ts";
import { leavesOfUnseen } from "../../../../log/leaf/indexed-leaves.ts";
import { LeafChain } from "../../../../log/leaf/leaf-chain.ts";
import { indexedEscrowOf } from "../../../../log/leaf/escrow-rows.ts";
import { projectAt, projectUnseenAt } from "../../../../log/leaf/project-at.ts";
import { indexedKinds } from "../../../../protocol/accounts/indexed-kinds.ts";
import { Instance } from "../../../../../ports/instance.ts";
import {
  type IndexBuild,
  IndexWriter,
  type Observed,
} from "../../../../../ports/index/index-writer.ts";
import type { CustodyTip } from "../ledger/custody-tip.ts";
import { eventsContradict, eventsMissing } from "../events/event-failures.ts";
import type { IndexAccounts, ReadRows } from "../index-accounts.ts";
import { OpenSnapshotSpool, type SnapshotTip } from "../../../../../ports/index/snapshot-spool.ts";
import { spooledScan } from "./spooled-scan.ts";
import type { SyncMemory } from "../ledger/sync-memory.ts";

/** Scans of one build. Another node may answer the next one, and show what the first left out. */
const SCANS = 3;
/** The most events by which a kept snapshot may be behind. The sync after it catches up from history. */
const MOST_BEHIND = 100_000n;
/** Rows per write: large batches are several times as fast as small ones, and this many fit in memory. */
const BATCH_ROWS = 10_000;

/** Why the leaves are not those of the tip, null when they are. */
const faultOf = (accounts: IndexAccounts, chain: LeafChain, { count, head }: CustodyTip) => {
  if (chain.contradicted !== null) return eventsContradict(chain.contradicted);
  const missing = chain.missingTo(count);
  if (missing > 0n) return eventsMissing(missing, chain.missing, accounts.rejected);
  return chain.head === head ? null : eventsContradict({ from: 0n, to: count });
};

/**
 * The escrows that could not be decoded, as they were at a count, of which no event is among the build's. Whether the
 * ledger numbered them, the chain says.
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
 * Builds the index anew at the tip's count, from scans of all accounts at its slot or later. Complete once every leaf is
 * there and their chain is the tip's head. Fails, and leaves the index as it was, when three scans do not give that. A
 * first build that was cut off goes on with the accounts that it kept, at the count and head that it began with; its mark
 * is older than the tip then.
 */
export const buildIndex = Effect.fn("buildIndex")(function* (
  accounts: IndexAccounts,
  memory: SyncMemory,
  newest: CustodyTip,
  isFirst: boolean,
) {
  const { deployment } = yield* Instance;
  const { build: begin } = yield* IndexWriter;
  const open = yield* OpenSnapshotSpool;
  // An index is replaced only by the history that was approved.
  const isUsable = ({ count, head, slot }: SnapshotTip) =>
    slot <= newest.slot &&
    (isFirst
      ? count <= newest.count && newest.count - count <= MOST_BEHIND
      : count === newest.count && head === newest.head);
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
    const chain = new LeafChain(0n, firstHead());
    yield* build.leaves(chain.add);
    return faultOf(accounts, chain, tip);
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
