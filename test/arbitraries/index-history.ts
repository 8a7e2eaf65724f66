import fc from "fast-check";
import { address, addressFromBytes } from "../../core/domain/address.ts";
import type { Escrow } from "../../core/domain/escrow/escrow.ts";
import type { IndexedEscrow, UnseenEscrow } from "../../core/domain/index/indexed-escrow.ts";
import type { EventReference } from "../../core/domain/index/settlement-event.ts";
import type { LoggedEvents, SyncMark } from "../../core/domain/index/sync-report.ts";
import type { Merchant } from "../../core/domain/merchant/merchant.ts";
import { ledgerSignatureFromBytes } from "../../core/domain/ledger/signature.ts";
import { sha256 } from "../../core/domain/sha256.ts";
import { LAST_UNIX_SECOND, type UnixSeconds } from "../../core/domain/unix-time.ts";
import {
  associatedToken,
  escrowAddress,
  merchantAddress,
} from "../../core/protocol/addresses/addresses.ts";
import { encodeEscrowAccount } from "../../core/protocol/accounts/escrow-account.ts";
import { leavesOfIndexed } from "../../core/log/leaf/indexed-leaves.ts";
import { networkLeaf } from "../../core/log/leaf/event-leaf.ts";
import { LeafTree } from "../../core/log/leaf/leaf-tree.ts";
import { noEvents } from "../../core/log/tree/frontier.ts";
import type { IndexChanges } from "../../ports/index/index-writer.ts";
import { anyEscrow } from "./escrow.ts";
import { bytesOfLength } from "./ledger-values.ts";
import { anyMerchant as unboundMerchant } from "./merchant.ts";
import { TEST_DEPLOYMENT, TEST_GENESIS_HASH } from "./test-ledger.ts";

const fewWallets = (offset: number) =>
  fc.integer({ min: 0, max: 2 }).map((n) => addressFromBytes(new Uint8Array(32).fill(offset + n)));

/** One of three agents, and one of three merchants, so that several escrows share them. */
export const anAgent = fewWallets(10);
export const aMerchantWallet = fewWallets(20);

/** One of few creation times, so that some escrows share a second. */
export const aCreationTime = fc.bigInt({ min: 1_700_000_000n, max: 1_700_000_004n });

const movedTo = (createdAt: UnixSeconds, escrow: Escrow): Escrow => {
  const shift = (time: UnixSeconds) => {
    const moved = time - escrow.createdAt + createdAt;
    return moved < LAST_UNIX_SECOND ? moved : LAST_UNIX_SECOND;
  };
  const { attestation, settledAt, closesAt } = escrow;
  return {
    ...escrow,
    createdAt,
    expiresAt: shift(escrow.expiresAt),
    closesAt: closesAt && shift(closesAt),
    settledAt: settledAt && shift(settledAt),
    attestation: attestation && { ...attestation, attestedAt: shift(attestation.attestedAt) },
  };
};

/** A settled escrow as it was before its settlement. */
const pendingOf = (escrow: Escrow): Escrow => ({
  ...escrow,
  state: "Pending",
  released: 0n,
  deliveries: 0,
  settledAt: null,
  settledBy: null,
  settledSeq: null,
  closesAt: null,
  attestation: null,
});

/** An escrow's accounts over time: Pending, and its settled state if it has one. */
export type EscrowLife = readonly [pending: Escrow, ...settled: Array<Escrow>];

/** The life of any escrow between few parties. */
export const escrowLife: fc.Arbitrary<EscrowLife> = fc
  .tuple(anyEscrow(TEST_DEPLOYMENT), anAgent, aMerchantWallet, aCreationTime)
  .map(([escrow, agentOwner, merchant, createdAt]): EscrowLife => {
    const derived = escrowAddress(TEST_DEPLOYMENT, agentOwner, escrow.taskHash);
    const vaultBump = associatedToken(derived.address, escrow.mint).bump;
    const last = { ...movedTo(createdAt, escrow), ...derived, vaultBump, agentOwner, merchant };
    return last.state === "Pending" ? [last] : [pendingOf(last), last];
  });

/** Lives of different escrows. Their events are numbered from 1 on, in any order of the lives. */
export const escrowLives = (
  maxLength: number,
  minLength = 0,
): fc.Arbitrary<ReadonlyArray<EscrowLife>> =>
  fc
    .uniqueArray(escrowLife, { minLength, maxLength, selector: ([pending]) => pending.address })
    .chain((lives) => {
      const turns = lives.flatMap((life, at) => life.map(() => at));
      return fc
        .shuffledSubarray(turns, { minLength: turns.length, maxLength: turns.length })
        .map((order) => numberedLives(lives, order));
    });

/** Numbers the events of lives: those of life `order[0]` first, and so on. */
const numberedLives = (
  lives: ReadonlyArray<EscrowLife>,
  order: ReadonlyArray<number>,
): ReadonlyArray<EscrowLife> => {
  const numbers = lives.map((): Array<bigint> => []);
  for (const [at, life] of order.entries()) numbers[life]?.push(BigInt(at + 1));
  return lives.map(([pending, ...settled], at) => {
    const [createdSeq = 0n, settledSeq = null] = numbers[at] ?? [];
    return [
      { ...pending, createdSeq },
      ...settled.map((last) => ({ ...last, createdSeq, settledSeq })),
    ];
  });
};

const casedName = fc.string({
  unit: fc.constantFrom("a", "A", "b", "İ", "ß", "Σ", "ς", " ", "%", "_"),
  minLength: 1,
  maxLength: 8,
});

/** Any merchant with one of three wallets. Its name often has letters whose case matters. */
export const anyMerchant: fc.Arbitrary<Merchant> = fc
  .tuple(unboundMerchant(TEST_DEPLOYMENT), aMerchantWallet, fc.option(casedName))
  .map(([merchant, wallet, name]) => ({
    ...merchant,
    ...merchantAddress(TEST_DEPLOYMENT, wallet),
    wallet,
    name: name ?? merchant.name,
  }));

/** An escrow as an index holds it. */
export const indexedOf = (escrow: Escrow): IndexedEscrow => {
  const digest = (of: Escrow) => sha256(encodeEscrowAccount(of));
  const isPending = escrow.state === "Pending";
  const { address, state, createdSeq, settledSeq } = escrow;
  return {
    address,
    state,
    createdSeq,
    settledSeq,
    account: encodeEscrowAccount(escrow),
    escrow,
    pendingHash: digest(isPending ? escrow : pendingOf(escrow)),
    settledHash: isPending ? null : digest(escrow),
  };
};

/** What is known of an archived escrow whose bytes nobody has shown. */
export const unseenOf = (row: IndexedEscrow): UnseenEscrow => {
  const { address, state, createdSeq, settledSeq, pendingHash, settledHash } = row;
  return { address, state, createdSeq, settledSeq, pendingHash, settledHash };
};

/** How many events lives have. */
export const eventCount = (lives: ReadonlyArray<EscrowLife>): bigint => BigInt(lives.flat().length);

const bySeq = (a: IndexedEscrow, b: IndexedEscrow): number =>
  a.escrow.createdSeq < b.escrow.createdSeq ? -1 : 1;

/** The rows of lives after the event numbered `count`, in ascending order. */
export const rowsAt = (
  lives: ReadonlyArray<EscrowLife>,
  count: bigint,
): ReadonlyArray<IndexedEscrow> =>
  lives
    .flatMap((life) => {
      const now = life.findLast(
        ({ createdSeq, settledSeq }) => (settledSeq ?? createdSeq) <= count,
      );
      return now === undefined ? [] : [indexedOf(now)];
    })
    .sort(bySeq);

/** The leaves of the events 1 to `count` of lives, in order. */
export const leavesAt = (
  lives: ReadonlyArray<EscrowLife>,
  count: bigint,
): ReadonlyArray<Uint8Array> =>
  rowsAt(lives, count)
    .flatMap(leavesOfIndexed)
    .sort((a, b) => (a.seq < b.seq ? -1 : 1))
    .map(({ leaf }) => leaf);

/** The log of the test ledger with these leaves of its first events. */
export const loggedOf = (leaves: ReadonlyArray<Uint8Array>): LoggedEvents => {
  const tree = new LeafTree(
    noEvents(networkLeaf(address(TEST_GENESIS_HASH), TEST_DEPLOYMENT.custodyProgram)),
  );
  leaves.forEach((leaf, at) => tree.add(BigInt(at + 1), leaf));
  return tree.events;
};

/** The mark of an index of lives after the event numbered `count`. */
export const markAt = (
  lives: ReadonlyArray<EscrowLife>,
  count: bigint,
  rest: Partial<SyncMark> = {},
): SyncMark => ({
  ...loggedOf(leavesAt(lives, count)),
  count,
  slot: count + 100n,
  ledgerTime: 1_700_000_000n + count,
  atMs: 1_700_000_000_000 + Number(count),
  ...rest,
});

/** No changes, but for those given. */
export const changesOf = (rest: Partial<IndexChanges>): IndexChanges => ({
  from: null,
  escrows: [],
  unseen: [],
  merchants: [],
  transactions: [],
  mark: null,
  ...rest,
});

/** What brings an index of lives from `from` to the event numbered `count`. Rows of `hidden` numbers are unseen. */
export const changesTo = (
  lives: ReadonlyArray<EscrowLife>,
  from: bigint | null,
  count: bigint,
  hidden: ReadonlySet<bigint> = new Set(),
): IndexChanges => {
  const changed = rowsAt(lives, count).filter(
    ({ escrow: { createdSeq, settledSeq } }) => (settledSeq ?? createdSeq) > (from ?? 0n),
  );
  const isHidden = ({ escrow }: IndexedEscrow) => hidden.has(escrow.createdSeq);
  return changesOf({
    from,
    escrows: changed.filter((row) => !isHidden(row)),
    unseen: changed.filter(isHidden).map(unseenOf),
    mark: markAt(lives, count),
  });
};

/** The first changes of an index that holds all of these lives in their last state. */
export const finalChanges = (lives: ReadonlyArray<EscrowLife>): IndexChanges =>
  changesTo(lives, null, eventCount(lives));

const aSlot = fc.bigInt({ min: 1n, max: 12n });

const aTransaction = (position: fc.Arbitrary<bigint>): fc.Arbitrary<EventReference> =>
  fc.record({
    position,
    signature: bytesOfLength(64).map(ledgerSignatureFromBytes),
    slot: aSlot,
  });

/** What a step of a history brings besides events. */
type Besides = Pick<IndexChanges, "merchants" | "transactions"> & {
  /** Numbers of unseen escrows whose bytes are found. */
  readonly found: ReadonlyArray<bigint>;
};
const NOTHING_ELSE: Besides = { merchants: [], transactions: [], found: [] };

/** Lives, and changes that lead an index from nothing to the last event. */
export type IndexHistory = {
  readonly lives: ReadonlyArray<EscrowLife>;
  readonly changes: ReadonlyArray<IndexChanges>;
  /** The numbers of the escrows that are unseen at the end. */
  readonly hidden: ReadonlySet<bigint>;
};

/**
 * Histories of an index: a mark after any event, rows that are unseen at first and found later, any version of a
 * merchant, transactions found early, late and twice.
 */
export const indexHistory: fc.Arbitrary<IndexHistory> = escrowLives(6).chain((lives) => {
  const count = eventCount(lives);
  const numbers = rowsAt(lives, count).map(({ escrow }) => escrow.createdSeq);
  const position = fc.bigInt({ min: 1n, max: count < 1n ? 1n : count });
  const step = fc.record({
    to: fc.bigInt({ min: 0n, max: count }),
    merchants: fc.uniqueArray(fc.record({ row: anyMerchant, slot: aSlot }), {
      maxLength: 3,
      selector: ({ row }) => row.address,
    }),
    transactions:
      count === 0n ? fc.constant([]) : fc.array(aTransaction(position), { maxLength: 4 }),
    found: fc.subarray(numbers),
  });
  return fc
    .tuple(fc.array(step, { maxLength: 6 }), fc.subarray(numbers))
    .map(([steps, hiddenFirst]): IndexHistory => {
      const stops = [...steps.map(({ to }) => to), count].sort((a, b) => (a < b ? -1 : 1));
      const hidden = new Set(hiddenFirst);
      let from: bigint | null = null;
      const changes: Array<IndexChanges> = [];
      for (const [at, to] of stops.entries()) {
        const { merchants, transactions, found }: Besides = steps[at] ?? NOTHING_ELSE;
        changes.push({
          ...changesTo(lives, from, to, hidden),
          merchants,
          transactions: transactions.filter((one) => one.position <= to),
        });
        from = to;
        const late = rowsAt(lives, to).filter(
          ({ escrow }) => hidden.has(escrow.createdSeq) && found.includes(escrow.createdSeq),
        );
        for (const { escrow } of late) hidden.delete(escrow.createdSeq);
        if (late.length > 0) changes.push(changesOf({ from, escrows: late }));
      }
      const known = new Set(rowsAt(lives, count).map(({ escrow }) => escrow.createdSeq));
      return { lives, changes, hidden: new Set([...hidden].filter((seq) => known.has(seq))) };
    });
});
