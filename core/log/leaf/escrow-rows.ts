import type { Address } from "../../domain/address.ts";
import { type Escrow, ESCROW_STATES, type EscrowState } from "../../domain/escrow/escrow.ts";
import { hash32ToBytes } from "../../domain/hash32.ts";
import type {
  AccountDigests,
  IndexedEscrow,
  UnseenEscrow,
} from "../../domain/index/indexed-escrow.ts";
import type { LedgerAccount } from "../../domain/ledger/account.ts";
import { sha256 } from "../../domain/sha256.ts";
import type { ArchivedEscrow } from "../../protocol/accounts/archived-escrow-account.ts";
import { fieldsOf } from "../../protocol/accounts/byte-fields.ts";
import {
  ESCROW_ACCOUNT_LENGTH,
  ESCROW_DISCRIMINATOR,
  escrowIn,
  pendingEscrowBytes,
} from "../../protocol/accounts/escrow-account.ts";
import { CUSTODY_ACCOUNTS, CUSTODY_CONSTANTS } from "../../protocol/generated/custody.ts";
import type { EscrowNumbers } from "./escrow-leaves.ts";

/** A row that decodes its escrow at the first read. Most rows are written as bytes, and their escrow is never read. */
class AccountRow implements IndexedEscrow {
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

/**
 * The row of an escrow whose account has the bytes `data`. A Pending one's row holds the bytes of its creation,
 * whatever was captured
 * since: only those have a leaf.
 */
export const indexedEscrowOf = (escrow: EscrowNumbers, data: Uint8Array): IndexedEscrow => {
  const created = pendingEscrowBytes(data);
  const pendingHash = sha256(created);
  return escrow.settledSeq === null
    ? new AccountRow(escrow, created, { pendingHash, settledHash: null })
    : new AccountRow(escrow, data, { pendingHash, settledHash: sha256(data) });
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

const { at: AT } = CUSTODY_ACCOUNTS.Escrow;

/**
 * What the bytes of an escrow that cannot be decoded still say: numbers, state and digests, from which its leaves
 * follow. Undefined for bytes of another layout or version, an unknown state, and numbers that contradict the state:
 * their leaves cannot be made. Only the root proves that the ledger numbered such an account.
 */
export const unreadableEscrowOf = ({
  address,
  data,
}: Pick<LedgerAccount, "address" | "data">): UnseenEscrow | undefined => {
  if (data.length !== ESCROW_ACCOUNT_LENGTH) return undefined;
  const fields = fieldsOf(data);
  if (!fields.isAt(0, ESCROW_DISCRIMINATOR)) return undefined;
  if (fields.u8(AT.version) !== CUSTODY_CONSTANTS.ACCOUNT_VERSION) return undefined;
  const state = ESCROW_STATES[fields.u8(AT.state)];
  const [createdSeq, settledSeq] = [fields.u64(AT.createdSeq), fields.u64(AT.settledSeq)];
  if (state === undefined || createdSeq === 0n) return undefined;
  const pendingHash = sha256(pendingEscrowBytes(data));
  if (state === "Pending")
    return settledSeq === 0n
      ? { address, state, createdSeq, settledSeq: null, pendingHash, settledHash: null }
      : undefined;
  if (settledSeq <= createdSeq) return undefined;
  return { address, state, createdSeq, settledSeq, pendingHash, settledHash: sha256(data) };
};

/**
 * An escrow as it was after the event numbered `count`, null when it was not created yet. Its row must show every event
 * up to `count`: a settlement undone gives back the Pending escrow exactly (docs/log.md, "Leaves").
 */
export const projectAt = (row: IndexedEscrow, count: bigint): IndexedEscrow | null => {
  const { address, createdSeq, settledSeq, account, pendingHash } = row;
  if (createdSeq > count) return null;
  if (settledSeq === null || settledSeq <= count) return row;
  return new AccountRow(
    { address, state: "Pending", createdSeq, settledSeq: null },
    pendingEscrowBytes(account),
    { pendingHash, settledHash: null },
  );
};

/** As `projectAt`, of an unseen escrow. */
export const projectUnseenAt = (row: UnseenEscrow, count: bigint): UnseenEscrow | null => {
  if (row.createdSeq > count) return null;
  if (row.settledSeq === null || row.settledSeq <= count) return row;
  return { ...row, state: "Pending", settledSeq: null, settledHash: null };
};
