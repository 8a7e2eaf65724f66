import { addressFromBytes } from "../../../core/domain/address.ts";
import type { Escrow } from "../../../core/domain/escrow/escrow.ts";
import { hash32FromBytes } from "../../../core/domain/hash32.ts";
import type { IndexedEscrow } from "../../../core/domain/index/indexed-escrow.ts";
import type { SyncMark } from "../../../core/domain/index/sync-report.ts";
import { escrowAddress } from "../../../core/protocol/addresses/addresses.ts";
import type { IndexChanges } from "../../../ports/index/index-writer.ts";
import { numbered } from "../../arbitraries/escrow-numbers.ts";
import { changesOf, indexedOf } from "../../arbitraries/index-history.ts";
import { TEST_DEPLOYMENT } from "../../arbitraries/test-ledger.ts";

/** How many escrows a numbered batch creates. */
export const ESCROWS_PER_BATCH = 8;

const wallet = (n: number) => addressFromBytes(new Uint8Array(32).fill(n));

const refunded = (batch: number, index: number): Escrow => {
  const seed = new Uint8Array(32);
  new DataView(seed.buffer).setUint32(0, batch * ESCROWS_PER_BATCH + index);
  const agentOwner = wallet(1 + (index % 3));
  const taskHash = hash32FromBytes(seed);
  return numbered(
    {
      ...escrowAddress(TEST_DEPLOYMENT, agentOwner, taskHash),
      state: "Refunded",
      agentOwner,
      merchant: wallet(11),
      mint: wallet(12),
      rentPayer: agentOwner,
      taskHash,
      amount: BigInt(index + 1),
      released: 0n,
      createdAt: BigInt(1_700_000_000 + batch),
      expiresAt: BigInt(1_700_000_060 + batch),
      settledAt: BigInt(1_700_000_090 + batch),
      attestor: wallet(13),
      attestation: null,
    },
    (batch - 1) * ESCROWS_PER_BATCH + index,
  );
};

/** The rows of the batch with a number from 1: always the same new escrows, two events each. */
export const numberedRows = (number: number): ReadonlyArray<IndexedEscrow> =>
  Array.from({ length: ESCROWS_PER_BATCH }, (_, index) => indexedOf(refunded(number, index)));

/**
 * The mark of an index that holds the batches up to one. Its frontier is none of a log: a store believes what it is
 * given.
 */
export const numberedMark = (number: number): SyncMark => ({
  count: BigInt(2 * ESCROWS_PER_BATCH * number),
  frontier: new Uint8Array(1280).fill(number),
  slot: BigInt(number),
  ledgerTime: BigInt(number),
  atMs: 1000 * number,
});

/** What brings an index of the batches before to that with a number. */
export const numberedBatch = (number: number): IndexChanges =>
  changesOf({
    from: number === 1 ? null : numberedMark(number - 1).count,
    escrows: numberedRows(number),
    mark: numberedMark(number),
  });
