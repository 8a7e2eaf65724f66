import type { Database } from "bun:sqlite";
import { type Address, addressFromBytes, addressToBytes } from "../../core/domain/address.ts";
import type { Escrow } from "../../core/domain/escrow.ts";
import { hash32FromBytes, hash32ToBytes } from "../../core/domain/hash32.ts";
import type { EscrowFilter, EscrowPlace, Sighted } from "../../ports/escrow-index.ts";
import { fromColumn, type NamedValues, toColumn, type Values } from "./columns.ts";
import { filterValues, partyConditions, stateNumber, stateOf, statesOf } from "./escrow-filter.ts";
import { type Change, sightingUpsert } from "./sighting-upsert.ts";

/** Everything of a row but its address and slot, in the order `valuesOf` binds them. */
const CONTENT = [
  "state",
  "bump",
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
  "proof_hash",
  "attestor",
  "attested_at",
  "attestation_signature",
];

type Row = {
  readonly address: Address;
  readonly state: bigint;
  readonly bump: bigint;
  readonly agent_owner: Uint8Array;
  readonly merchant: Uint8Array;
  readonly mint: Uint8Array;
  readonly rent_payer: Uint8Array;
  readonly task_hash: Uint8Array;
  readonly amount: bigint;
  readonly released: bigint;
  readonly created_at: bigint;
  readonly expires_at: bigint;
  readonly settled_at: bigint | null;
  readonly proof_hash: Uint8Array | null;
  readonly attestor: Uint8Array | null;
  readonly attested_at: bigint | null;
  readonly attestation_signature: Uint8Array | null;
};

const valuesOf = ({ row, slot }: Sighted<Escrow>): Values => [
  row.address,
  slot,
  stateNumber(row.state),
  row.bump,
  addressToBytes(row.agentOwner),
  addressToBytes(row.merchant),
  addressToBytes(row.mint),
  addressToBytes(row.rentPayer),
  hash32ToBytes(row.taskHash),
  toColumn(row.amount),
  toColumn(row.released),
  row.createdAt,
  row.expiresAt,
  row.settledAt,
  row.attestation && hash32ToBytes(row.attestation.proofHash),
  row.attestation && addressToBytes(row.attestation.attestor),
  row.attestation && row.attestation.attestedAt,
  row.attestation && Buffer.from(row.attestation.signature, "base64"),
];

const escrowOf = (row: Row): Escrow => ({
  address: row.address,
  bump: Number(row.bump),
  state: stateOf(row.state),
  agentOwner: addressFromBytes(row.agent_owner),
  merchant: addressFromBytes(row.merchant),
  mint: addressFromBytes(row.mint),
  rentPayer: addressFromBytes(row.rent_payer),
  taskHash: hash32FromBytes(row.task_hash),
  amount: fromColumn(row.amount),
  released: fromColumn(row.released),
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  settledAt: row.settled_at,
  attestation:
    row.proof_hash && row.attestor && row.attested_at !== null && row.attestation_signature
      ? {
          proofHash: hash32FromBytes(row.proof_hash),
          attestor: addressFromBytes(row.attestor),
          attestedAt: row.attested_at,
          signature: Buffer.from(row.attestation_signature).toString("base64"),
        }
      : null,
});

/** What the events of an escrow need to know of it. */
export type Standing = Pick<Escrow, "state" | "expiresAt">;

/** The table of escrows. */
export const escrowTable = (db: Database) => {
  const upsert = sightingUpsert(db, "escrow", CONTENT, "state = 0");
  const standing = db.query<{ state: bigint; expires_at: bigint }, [string]>(
    "SELECT state, expires_at FROM escrow WHERE address = ?1",
  );
  const count = db.query<{ count: bigint | null }, []>("SELECT max(number) AS count FROM escrow");

  const page = (filter: EscrowFilter, limit: number, after: EscrowPlace | null) => {
    const conditions = [
      "(created_at, address) < ($createdAt, $address)",
      ...partyConditions(filter),
    ];
    if (filter.refundableAt !== undefined) conditions.push("expires_at <= $refundableAt");
    const runs = statesOf(filter).map(
      (s) => `SELECT * FROM escrow WHERE state = ${stateNumber(s)} AND ${conditions.join(" AND ")}`,
    );
    if (runs.length === 0) return [];
    return db
      .query<Row, NamedValues>(
        `${runs.join(" UNION ALL ")} ORDER BY created_at DESC, address DESC LIMIT $limit`,
      )
      .all({
        limit,
        createdAt: after?.createdAt ?? 2n ** 63n - 1n,
        address: after?.address ?? "",
        ...filterValues(filter),
      })
      .map(escrowOf);
  };

  return {
    /** Writes a sighting; a settled row stays. */
    put: (sighted: Sighted<Escrow>): Change => upsert(valuesOf(sighted)),
    /** How the stored row stands, undefined when there is none. */
    standing: (address: Address): Standing | undefined => {
      const row = standing.get(address);
      return row === null ? undefined : { state: stateOf(row.state), expiresAt: row.expires_at };
    },
    count: (): number => Number(count.get()?.count ?? 0n),
    page,
  };
};
