import type { Address } from "../../domain/address.ts";
import type { Escrow } from "../../domain/escrow/escrow.ts";
import { hash32ToBytes } from "../../domain/hash32.ts";
import type { IndexedEscrow, UnseenEscrow } from "../../domain/index/indexed-escrow.ts";
import { sha256 } from "../../domain/sha256.ts";
import type { ArchivedEscrow } from "../../protocol/accounts/archived-escrow-account.ts";
import { pendingEscrowBytes } from "../../protocol/accounts/escrow-account.ts";

/** A settled escrow as it was while Pending. */
const pendingFormOf = (escrow: Escrow): Escrow => ({
  ...escrow,
  state: "Pending",
  released: 0n,
  settledAt: null,
  settledSeq: null,
  attestation: null,
});

/** A decoded escrow with the digests of its account's bytes `data`. */
export const indexedEscrowOf = (escrow: Escrow, data: Uint8Array): IndexedEscrow => {
  if (escrow.settledSeq === null) return { escrow, pendingHash: sha256(data), settledHash: null };
  return {
    escrow,
    pendingHash: sha256(pendingEscrowBytes(data)),
    settledHash: sha256(data),
  };
};

/** What a tombstone says of the escrow that was at its address. */
export const unseenEscrowOf = (
  address: Address,
  { state, createdSeq, settledSeq, pendingHash, lastHash }: ArchivedEscrow,
): UnseenEscrow => ({
  address,
  state,
  createdSeq,
  settledSeq,
  pendingHash: hash32ToBytes(pendingHash),
  settledHash: hash32ToBytes(lastHash),
});

/**
 * An escrow as it was after the event numbered `count`, null when it was not created yet. Its row must show every event
 * up to `count`: a settlement undone gives back the Pending escrow exactly (docs/log.md, "Leaves").
 */
export const projectAt = (row: IndexedEscrow, count: bigint): IndexedEscrow | null => {
  const { createdSeq, settledSeq } = row.escrow;
  if (createdSeq > count) return null;
  if (settledSeq === null || settledSeq <= count) return row;
  return {
    escrow: pendingFormOf(row.escrow),
    pendingHash: row.pendingHash,
    settledHash: null,
  };
};

/** As `projectAt`, of an unseen escrow. */
export const projectUnseenAt = (row: UnseenEscrow, count: bigint): UnseenEscrow | null => {
  if (row.createdSeq > count) return null;
  if (row.settledSeq === null || row.settledSeq <= count) return row;
  return { ...row, state: "Pending", settledSeq: null, settledHash: null };
};
