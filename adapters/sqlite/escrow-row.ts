import type { Address } from "../../core/domain/address.ts";
import type { Escrow } from "../../core/domain/escrow/escrow.ts";
import { hash32FromBytes, hash32ToBytes } from "../../core/domain/hash32.ts";
import type { AddressBook } from "./address-book.ts";
import { fromColumn, toColumn, type Values } from "./columns.ts";
import { stateNumber, stateOf } from "./escrow-filter.ts";

/** What a row holds of an escrow besides its address, in the order of `escrowContent`. */
export const ESCROW_CONTENT = [
  "state",
  "bump",
  "vault_bump",
  "agent_owner",
  "merchant",
  "mint",
  "rent_payer",
  "task_hash",
  "amount",
  "released",
  "created_at",
  "expires_at",
  "settled_at",
  "attestor",
  "proof_hash",
  "attested_at",
  "attestation_signature",
  "created_seq",
  "settled_seq",
];

/** A row of the table `escrow` as it is read. */
export type EscrowRow = {
  readonly address: Address;
  readonly state: bigint;
  readonly bump: bigint;
  readonly vault_bump: bigint;
  readonly agent_owner: bigint;
  readonly merchant: bigint;
  readonly mint: bigint;
  readonly rent_payer: bigint;
  readonly task_hash: Uint8Array;
  readonly amount: bigint;
  readonly released: bigint;
  readonly created_at: bigint;
  readonly expires_at: bigint;
  readonly settled_at: bigint | null;
  readonly attestor: bigint;
  readonly proof_hash: Uint8Array | null;
  readonly attested_at: bigint | null;
  readonly attestation_signature: Uint8Array | null;
  readonly created_seq: bigint;
  readonly settled_seq: bigint | null;
};

/** What an escrow's row binds for `ESCROW_CONTENT`; inside a transaction, since it may name new addresses. */
export const escrowContent = (book: AddressBook, escrow: Escrow): Values => {
  const { attestation } = escrow;
  return [
    stateNumber(escrow.state),
    escrow.bump,
    escrow.vaultBump,
    book.numberOf(escrow.agentOwner),
    book.numberOf(escrow.merchant),
    book.numberOf(escrow.mint),
    book.numberOf(escrow.rentPayer),
    hash32ToBytes(escrow.taskHash),
    toColumn(escrow.amount),
    toColumn(escrow.released),
    escrow.createdAt,
    escrow.expiresAt,
    escrow.settledAt,
    book.numberOf(escrow.attestor),
    attestation && hash32ToBytes(attestation.proofHash),
    attestation && attestation.attestedAt,
    attestation && Buffer.from(attestation.signature, "base64"),
    toColumn(escrow.createdSeq),
    escrow.settledSeq === null ? null : toColumn(escrow.settledSeq),
  ];
};

/** The escrow of a row. */
export const escrowOf = (book: AddressBook, row: EscrowRow): Escrow => ({
  address: row.address,
  bump: Number(row.bump),
  vaultBump: Number(row.vault_bump),
  state: stateOf(row.state),
  agentOwner: book.addressOf(row.agent_owner),
  merchant: book.addressOf(row.merchant),
  mint: book.addressOf(row.mint),
  rentPayer: book.addressOf(row.rent_payer),
  taskHash: hash32FromBytes(row.task_hash),
  amount: fromColumn(row.amount),
  released: fromColumn(row.released),
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  settledAt: row.settled_at,
  attestor: book.addressOf(row.attestor),
  attestation:
    row.proof_hash !== null && row.attested_at !== null && row.attestation_signature !== null
      ? {
          proofHash: hash32FromBytes(row.proof_hash),
          attestedAt: row.attested_at,
          signature: Buffer.from(row.attestation_signature).toString("base64"),
        }
      : null,
  createdSeq: fromColumn(row.created_seq),
  settledSeq: row.settled_seq === null ? null : fromColumn(row.settled_seq),
});
