import type { Address } from "../../domain/address.ts";
import type { Escrow, EscrowState } from "../../domain/escrow/escrow.ts";
import { hash32ToBytes } from "../../domain/hash32.ts";
import type {
  AccountDigests,
  IndexedEscrow,
  UnseenEscrow,
} from "../../domain/index/indexed-escrow.ts";
import { sha256 } from "../../domain/sha256.ts";
import type { ArchivedEscrow } from "../../protocol/accounts/archived-escrow-account.ts";
import { escrowIn, pendingEscrowBytes } from "../../protocol/accounts/escrow-account.ts";
import type { EscrowNumbers } from "./escrow-leaves.ts";

/** A row that decodes its escrow at the first read. Most rows are written as bytes, and their escrow is never read. */
export class AccountRow implements IndexedEscrow {
  readonly address: Address;
  readonly state: EscrowState;
  readonly createdSeq: bigint;
  readonly settledSeq: bigint | null;
  readonly account: Uint8Array;
  readonly pendingHash: Uint8Array;
  readonly settledHash: Uint8Array | null;
  #escrow: Escrow | undefined;

  constructor(
    { address, state, createdSeq, settledSeq }: EscrowNumbers,
    account: Uint8Array,
    { pendingHash, settledHash }: AccountDigests,
  ) {
    this.address = address;
    this.state = state;
    this.createdSeq = createdSeq;
    this.settledSeq = settledSeq;
    this.account = account;
    this.pendingHash = pendingHash;
    this.settledHash = settledHash;
  }

  get escrow(): Escrow {
    return (this.#escrow ??= escrowIn(this.address, this.account));
  }
}

/** The row of an escrow whose account has the bytes `data`. */
export const indexedEscrowOf = (escrow: EscrowNumbers, data: Uint8Array): IndexedEscrow => {
  const digest = sha256(data);
  return new AccountRow(
    escrow,
    data,
    escrow.settledSeq === null
      ? { pendingHash: digest, settledHash: null }
      : { pendingHash: sha256(pendingEscrowBytes(data)), settledHash: digest },
  );
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
