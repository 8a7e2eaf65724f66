import { type Address, addressFromBytes, addressToBytes } from "../../../core/domain/address.ts";
import type { Escrow } from "../../../core/domain/escrow/escrow.ts";
import { hash32FromBytes, hash32ToBytes } from "../../../core/domain/hash32.ts";
import type { IndexedEscrow } from "../../../core/domain/index/indexed-escrow.ts";
import { RecentlyUsed } from "../../../core/domain/recently-used.ts";
import { columnsOf, type Values } from "../queries.ts";
import { stateNumber, stateOf } from "./escrow-filter.ts";

/** What a row of an escrow binds, in the order of `escrowValues`. */
export const ESCROW_COLUMNS = columnsOf({
  created_seq: "INT8",
  settled_seq: "INT8",
  created_at: "INT8",
  expires_at: "INT8",
  settled_at: "INT8",
  attested_at: "INT8",
  state: "INT2",
  bump: "INT2",
  vault_bump: "INT2",
  address: "BYTEA",
  agent_owner: "BYTEA",
  merchant: "BYTEA",
  mint: "BYTEA",
  rent_payer: "BYTEA",
  attestor: "BYTEA",
  task_hash: "BYTEA",
  pending_hash: "BYTEA",
  settled_hash: "BYTEA",
  proof_hash: "BYTEA",
  attestation_signature: "BYTEA",
  amount: "NUMERIC",
  released: "NUMERIC",
});

/** Most rows repeat merchants, attestors and mints. A look-up takes a third of decoding base58. */
const parties = new RecentlyUsed<Address, Uint8Array>(20_000);
const bytesOfParty = (party: Address): Uint8Array => {
  const known = parties.get(party);
  if (known !== undefined) return known;
  const bytes = addressToBytes(party);
  parties.set(party, bytes);
  return bytes;
};

/** The columns' values of an escrow. */
export const escrowValues = ({ escrow, pendingHash, settledHash }: IndexedEscrow): Values => [
  escrow.createdSeq,
  escrow.settledSeq,
  escrow.createdAt,
  escrow.expiresAt,
  escrow.settledAt,
  escrow.attestation && escrow.attestation.attestedAt,
  stateNumber(escrow.state),
  escrow.bump,
  escrow.vaultBump,
  addressToBytes(escrow.address),
  bytesOfParty(escrow.agentOwner),
  bytesOfParty(escrow.merchant),
  bytesOfParty(escrow.mint),
  bytesOfParty(escrow.rentPayer),
  bytesOfParty(escrow.attestor),
  hash32ToBytes(escrow.taskHash),
  pendingHash,
  settledHash,
  escrow.attestation && hash32ToBytes(escrow.attestation.proofHash),
  escrow.attestation && Buffer.from(escrow.attestation.signature, "base64"),
  escrow.amount,
  escrow.released,
];

/** A row of the table, as the client reads it. */
export type EscrowRow = {
  readonly created_seq: bigint;
  readonly settled_seq: bigint | null;
  readonly created_at: bigint;
  readonly expires_at: bigint;
  readonly settled_at: bigint | null;
  readonly attested_at: bigint | null;
  readonly state: number;
  readonly bump: number;
  readonly vault_bump: number;
  readonly address: Uint8Array;
  readonly agent_owner: Uint8Array;
  readonly merchant: Uint8Array;
  readonly mint: Uint8Array;
  readonly rent_payer: Uint8Array;
  readonly attestor: Uint8Array;
  readonly task_hash: Uint8Array;
  readonly pending_hash: Uint8Array;
  readonly settled_hash: Uint8Array | null;
  readonly proof_hash: Uint8Array | null;
  readonly attestation_signature: Uint8Array | null;
  readonly amount: string;
  readonly released: string;
};

/** The escrow of a row. */
export const escrowOf = (row: EscrowRow): Escrow => ({
  address: addressFromBytes(row.address),
  bump: row.bump,
  vaultBump: row.vault_bump,
  state: stateOf(row.state),
  agentOwner: addressFromBytes(row.agent_owner),
  merchant: addressFromBytes(row.merchant),
  mint: addressFromBytes(row.mint),
  rentPayer: addressFromBytes(row.rent_payer),
  taskHash: hash32FromBytes(row.task_hash),
  amount: BigInt(row.amount),
  released: BigInt(row.released),
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  settledAt: row.settled_at,
  attestor: addressFromBytes(row.attestor),
  attestation:
    row.proof_hash && row.attested_at !== null && row.attestation_signature
      ? {
          proofHash: hash32FromBytes(row.proof_hash),
          attestedAt: row.attested_at,
          signature: Buffer.from(row.attestation_signature).toString("base64"),
        }
      : null,
  createdSeq: row.created_seq,
  settledSeq: row.settled_seq,
});
