import { addressToBytes, type Address } from "../../domain/address.ts";
import type { Escrow } from "../../domain/escrow/escrow.ts";
import { hash32ToBytes } from "../../domain/hash32.ts";
import { sha256 } from "../../domain/sha256.ts";
import type { ArchivedEscrow } from "../../protocol/accounts/archived-escrow-account.ts";
import { pendingEscrowBytes } from "../../protocol/accounts/escrow-account.ts";
import { eventLeafOf } from "./event-leaf.ts";

/** The leaf of an event and its number among all events of the custody program, from 1 on. */
export type NumberedLeaf = {
  readonly seq: bigint;
  /** 66 bytes. */
  readonly leaf: Uint8Array;
};

/** What an escrow's leaves need of its account besides the bytes. */
export type EscrowNumbers = Pick<Escrow, "address" | "state" | "createdSeq" | "settledSeq">;

/**
 * The leaves of an escrow's events, from its account: that of the creation and, once settled, that of the settlement.
 * `data` are the account's bytes, of which the escrow was decoded.
 */
export const leavesOfEscrow = (
  { address, state, createdSeq, settledSeq }: EscrowNumbers,
  data: Uint8Array,
): ReadonlyArray<NumberedLeaf> => {
  const escrow = addressToBytes(address);
  const created = eventLeafOf("Pending", escrow, sha256(pendingEscrowBytes(data)));
  // What a session captures leaves no event: its account's bytes change, and its leaf does not.
  if (settledSeq === null) return [{ seq: createdSeq, leaf: created }];
  return [
    { seq: createdSeq, leaf: created },
    { seq: settledSeq, leaf: eventLeafOf(state, escrow, sha256(data)) },
  ];
};

/** The two leaves of an archived escrow's events, from the tombstone at its address. */
export const leavesOfTombstone = (
  address: Address,
  { state, createdSeq, settledSeq, pendingHash, lastHash }: ArchivedEscrow,
): readonly [NumberedLeaf, NumberedLeaf] => {
  const escrow = addressToBytes(address);
  return [
    { seq: createdSeq, leaf: eventLeafOf("Pending", escrow, hash32ToBytes(pendingHash)) },
    { seq: settledSeq, leaf: eventLeafOf(state, escrow, hash32ToBytes(lastHash)) },
  ];
};
