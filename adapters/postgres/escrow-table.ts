import { type Address, addressFromBytes, addressToBytes } from "../../core/domain/address.ts";
import type { Escrow } from "../../core/domain/escrow/escrow.ts";
import { hash32FromBytes, hash32ToBytes } from "../../core/domain/hash32.ts";
import type { EscrowFilter, EscrowCursor, Observed } from "../../ports/escrow-index.ts";
import { mergedRuns, partyConditions, stateNumber, stateOf, statesOf } from "./escrow-filter.ts";
import { bindings, type Column, type Queries, rowsOf, type Values } from "./queries.ts";
import { sightingUpsert, type Written } from "./sighting-upsert.ts";

/** What a sighting binds, in the order of `valuesOf`. */
const COLUMNS: ReadonlyArray<Column> = [
  { name: "address", type: "TEXT" },
  { name: "slot", type: "NUMERIC" },
  { name: "state", type: "INT2" },
  { name: "bump", type: "INT2" },
  { name: "vault_bump", type: "INT2" },
  { name: "agent_owner", type: "BYTEA" },
  { name: "merchant", type: "BYTEA" },
  { name: "mint", type: "BYTEA" },
  { name: "rent_payer", type: "BYTEA" },
  { name: "task_hash", type: "BYTEA" },
  { name: "amount", type: "NUMERIC" },
  { name: "released", type: "NUMERIC" },
  { name: "created_at", type: "INT8" },
  { name: "expires_at", type: "INT8" },
  { name: "settled_at", type: "INT8" },
  { name: "attestor", type: "BYTEA" },
  { name: "proof_hash", type: "BYTEA" },
  { name: "attested_at", type: "INT8" },
  { name: "attestation_signature", type: "BYTEA" },
  { name: "created_seq", type: "NUMERIC" },
  { name: "settled_seq", type: "NUMERIC" },
];

type Row = {
  readonly address: Address;
  readonly state: number;
  readonly bump: number;
  readonly vault_bump: number;
  readonly agent_owner: Uint8Array;
  readonly merchant: Uint8Array;
  readonly mint: Uint8Array;
  readonly rent_payer: Uint8Array;
  readonly task_hash: Uint8Array;
  readonly amount: string;
  readonly released: string;
  readonly created_at: bigint;
  readonly expires_at: bigint;
  readonly settled_at: bigint | null;
  readonly attestor: Uint8Array;
  readonly proof_hash: Uint8Array | null;
  readonly attested_at: bigint | null;
  readonly attestation_signature: Uint8Array | null;
  readonly created_seq: string;
  readonly settled_seq: string | null;
};

const valuesOf = ({ row, slot }: Observed<Escrow>): Values => [
  row.address,
  slot,
  stateNumber(row.state),
  row.bump,
  row.vaultBump,
  addressToBytes(row.agentOwner),
  addressToBytes(row.merchant),
  addressToBytes(row.mint),
  addressToBytes(row.rentPayer),
  hash32ToBytes(row.taskHash),
  row.amount,
  row.released,
  row.createdAt,
  row.expiresAt,
  row.settledAt,
  addressToBytes(row.attestor),
  row.attestation && hash32ToBytes(row.attestation.proofHash),
  row.attestation && row.attestation.attestedAt,
  row.attestation && Buffer.from(row.attestation.signature, "base64"),
  row.createdSeq,
  row.settledSeq,
];

const escrowOf = (row: Row): Escrow => ({
  address: row.address,
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
  createdSeq: BigInt(row.created_seq),
  settledSeq: row.settled_seq === null ? null : BigInt(row.settled_seq),
});

const upsert = sightingUpsert("escrow", COLUMNS, { guard: "before.state = 0", raise: false });

/** Writes sightings; a settled row stays. */
export const putEscrows = (
  sql: Queries,
  sightings: ReadonlyArray<Observed<Escrow>>,
): Promise<Written> => upsert(sql, sightings.map(valuesOf));

/** The statement for a page of escrows, null for a filter that nothing can meet. */
export const escrowPageQuery = (
  filter: EscrowFilter,
  limit: number,
  after: EscrowCursor | null,
): { readonly text: string; readonly values: Values } | null => {
  const bound = bindings();
  const { bind, values } = bound;
  const conditions = [...partyConditions(filter, bound)];
  if (after !== null)
    conditions.push(`(created_at, address) < (${bind(after.createdAt)}, ${bind(after.address)})`);
  if (filter.refundableAt !== undefined)
    conditions.push(`expires_at <= ${bind(filter.refundableAt)}`);
  const runs = statesOf(filter).map((state) =>
    [`SELECT * FROM escrow WHERE state = ${stateNumber(state)}`, ...conditions].join(" AND "),
  );
  if (runs.length === 0) return null;
  const text = mergedRuns(runs, "created_at DESC, address DESC", bind(limit));
  return { text, values };
};

/** A page of escrows, newest first. */
export const escrowPage = async (
  sql: Queries,
  ...page: Parameters<typeof escrowPageQuery>
): Promise<ReadonlyArray<Escrow>> => {
  const query = escrowPageQuery(...page);
  return query === null
    ? []
    : (await rowsOf<Row>(sql, query.text, query.values)).map((row) => escrowOf(row));
};

/** The stored ones of these escrows. */
export const escrowsAt = async (
  sql: Queries,
  addresses: ReadonlyArray<Address>,
): Promise<ReadonlyArray<Escrow>> =>
  (
    await rowsOf<Row>(sql, "SELECT * FROM escrow WHERE address = ANY($1::text[])", [
      sql.array([...addresses], "TEXT"),
    ])
  ).map((row) => escrowOf(row));
