import fc from "fast-check";
import { addressFromBytes, ZERO_ADDRESS } from "../../core/domain/address.ts";
import type { Escrow } from "../../core/domain/escrow/escrow.ts";
import type { Merchant } from "../../core/domain/merchant/merchant.ts";
import { ledgerSignatureFromBytes } from "../../core/domain/ledger/signature.ts";
import {
  EVENT_KINDS,
  type EventReference,
  eventsOf,
} from "../../core/domain/index/settlement-event.ts";
import { LAST_UNIX_SECOND, type UnixSeconds } from "../../core/domain/unix-time.ts";
import {
  associatedToken,
  escrowAddress,
  merchantAddress,
} from "../../core/protocol/addresses/addresses.ts";
import type { IndexBatch, Observed } from "../../ports/escrow-index.ts";
import { anyEscrow } from "./escrow.ts";
import { bytesOfLength } from "./ledger-values.ts";
import { anyMerchant as unboundMerchant } from "./merchant.ts";
import { TEST_DEPLOYMENT } from "./test-ledger.ts";

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
  const { attestation, settledAt } = escrow;
  return {
    ...escrow,
    createdAt,
    expiresAt: shift(escrow.expiresAt),
    settledAt: settledAt && shift(settledAt),
    attestation: attestation && { ...attestation, attestedAt: shift(attestation.attestedAt) },
  };
};

/** A settled escrow as it was before its settlement. */
const pendingOf = (escrow: Escrow): Escrow => ({
  ...escrow,
  state: "Pending",
  released: 0n,
  settledAt: null,
  settledSeq: null,
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

/** Lives of different escrows. */
export const escrowLives = (maxLength: number) =>
  fc.uniqueArray(escrowLife, { maxLength, selector: ([pending]) => pending.address });

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

/** A batch of these observations, with their events, as a sync would make it. */
export const batchOf = (
  escrows: ReadonlyArray<Observed<Escrow>>,
  rest: Partial<IndexBatch> = {},
): IndexBatch => ({
  escrows,
  merchants: [],
  events: escrows.flatMap(({ row }) => eventsOf(row)),
  checkpoint: null,
  ...rest,
});

/** A batch with all of these escrows in their last state. */
export const finalBatch = (lives: ReadonlyArray<EscrowLife>) =>
  batchOf(lives.map((life) => ({ row: life.at(-1) ?? life[0], slot: 100n })));

/** The transaction of an event. The event belongs to one of these escrows or to an unknown one. */
const aReference = (accounts: ReadonlyArray<Escrow>): fc.Arbitrary<EventReference> =>
  fc.record({
    escrow: fc.constantFrom(...accounts.map(({ address }) => address), ZERO_ADDRESS),
    kind: fc.constantFrom(...EVENT_KINDS),
    signature: bytesOfLength(64).map(ledgerSignatureFromBytes),
    slot,
  });

const slot = fc.bigInt({ min: 1n, max: 12n });

/**
 * Batches from nodes that lag, lie about their slot, repeat themselves and answer out of order. They hold any escrow at
 * any point of its life, and any version of a merchant, at any slot.
 */
export const indexHistory: fc.Arbitrary<ReadonlyArray<IndexBatch>> = escrowLives(6).chain(
  (lives) => {
    const accounts = lives.flat();
    const escrows =
      accounts.length === 0
        ? fc.constant([])
        : fc.array(fc.record({ row: fc.constantFrom(...accounts), slot }), { maxLength: 8 });
    const checkpoint = fc.record({
      slot,
      ledgerTime: aCreationTime,
      atMs: fc.integer({ min: 0, max: 2 ** 45 }),
    });
    const batch = fc.record({
      escrows,
      merchants: fc.array(fc.record({ row: anyMerchant, slot }), { maxLength: 4 }),
      references: fc.array(aReference(accounts), { maxLength: 4 }),
      checkpoint: fc.option(checkpoint),
    });
    return fc
      .array(batch, { maxLength: 6 })
      .map((batches) => batches.map(({ escrows, ...rest }) => batchOf(escrows, rest)));
  },
);
