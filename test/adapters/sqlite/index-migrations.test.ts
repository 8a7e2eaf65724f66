import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Effect } from "effect";
import fc from "fast-check";
import { escrowIndexMemory } from "../../../adapters/memory/escrow-index.ts";
import { toColumn } from "../../../adapters/sqlite/columns.ts";
import { escrowIndexSqlite } from "../../../adapters/sqlite/escrow-index.ts";
import { INDEX_APPLICATION_ID, INDEX_MIGRATIONS } from "../../../adapters/sqlite/index-schema.ts";
import { addressToBytes } from "../../../core/domain/address.ts";
import { type Escrow, ESCROW_STATES } from "../../../core/domain/escrow/escrow.ts";
import { hash32ToBytes } from "../../../core/domain/hash32.ts";
import {
  ledgerSignatureFromBytes,
  ledgerSignatureToBytes,
} from "../../../core/domain/ledger/signature.ts";
import { EVENT_KINDS, type IndexedEvent } from "../../../core/domain/index/settlement-event.ts";
import { EscrowIndex, type IndexBatch } from "../../../ports/escrow-index.ts";
import { anyMerchant, escrowLives, finalBatch } from "../../arbitraries/index-history.ts";
import { TEST_DEPLOYMENT, TEST_GENESIS_HASH } from "../../arbitraries/test-ledger.ts";
import { tmpdir } from "../../temporary-root.ts";

const ledger = { genesisHash: TEST_GENESIS_HASH, deployment: TEST_DEPLOYMENT };

/** Escrows in every state, a merchant with deliveries, and a transaction for one event. */
const batchOfMany = (): IndexBatch => {
  const samples = fc.sample(escrowLives(40), { numRuns: 20, seed: 7 });
  const [lives = []] = samples.toSorted((a, b) => b.length - a.length);
  const batch = finalBatch(lives);
  const delivered = batch.escrows.find(({ row }) => row.attestation !== null)?.row.merchant;
  const merchants = fc.sample(anyMerchant, { numRuns: 100, seed: 7 });
  const merchant = merchants.find(({ wallet }) => wallet === delivered);
  const [first] = batch.events;
  if (merchant === undefined || first === undefined) throw new Error("the seed gives both");
  const { escrow, kind } = first;
  const signature = ledgerSignatureFromBytes(new Uint8Array(64).fill(3));
  return {
    ...batch,
    merchants: [{ row: merchant, slot: 100n }],
    references: [{ escrow, kind, signature, slot: 77n }],
    checkpoint: { slot: 100n, ledgerTime: 1_700_000_500n, atMs: 1_700_000_500_000 },
  };
};

const everything = EscrowIndex.use((index) =>
  Effect.all({
    escrows: index.escrows({}, 1000, null),
    events: index.events({}, 1000, null),
    unreferenced: index.eventsWithoutReference(1000, 0n),
    merchants: index.merchants({}, 1000, null),
    summary: index.summary,
  }),
);

const insertInto = (db: Database, table: string, row: Record<string, unknown>): void => {
  const names = Object.keys(row);
  db.prepare(
    `INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`,
  ).run(...(Object.values(row) as Array<string>));
};

const bytes = (address: Escrow["merchant"] | undefined): Uint8Array | null =>
  address === undefined ? null : addressToBytes(address);

/** A row of the tables before addresses had numbers. */
const formerEscrow = (row: Escrow, slot: bigint): Record<string, unknown> => ({
  address: row.address,
  slot,
  state: ESCROW_STATES.indexOf(row.state),
  bump: row.bump,
  agent_owner: bytes(row.agentOwner),
  merchant: bytes(row.merchant),
  mint: bytes(row.mint),
  rent_payer: bytes(row.rentPayer),
  task_hash: hash32ToBytes(row.taskHash),
  amount: toColumn(row.amount),
  released: toColumn(row.released),
  created_at: row.createdAt,
  expires_at: row.expiresAt,
  settled_at: row.settledAt,
  proof_hash: row.attestation && hash32ToBytes(row.attestation.proofHash),
  attestor: bytes(row.attestation?.attestor),
  attested_at: row.attestation && row.attestation.attestedAt,
  attestation_signature: row.attestation && Buffer.from(row.attestation.signature, "base64"),
});

const formerEvent = ({ event, position, chainHash, signature, slot }: IndexedEvent) => ({
  position,
  escrow: event.escrow,
  kind: EVENT_KINDS.indexOf(event.kind),
  state: ESCROW_STATES.indexOf(event.state),
  agent_owner: bytes(event.agentOwner),
  merchant: bytes(event.merchant),
  mint: bytes(event.mint),
  amount: toColumn(event.amount),
  proof_hash: event.proofHash && hash32ToBytes(event.proofHash),
  occurred_at: event.occurredAt,
  chain_hash: hash32ToBytes(chainHash),
  ...(signature !== null && {
    signature: ledgerSignatureToBytes(signature),
    transaction_slot: slot,
  }),
});

test.each([2, 3])(
  "a file of version %d keeps its rows, events, positions and counts, and is written on",
  async (version) => {
    const folder = mkdtempSync(join(tmpdir(), "index-migrations-"));
    const path = join(folder, "index.sqlite");
    const batch = batchOfMany();
    const fill = EscrowIndex.use((index) => index.apply(batch));
    const [expected, applied] = await Effect.runPromise(
      Effect.provide(Effect.zip(Effect.andThen(fill, everything), fill), escrowIndexMemory(ledger)),
    );
    expect(expected.merchants[0]?.stats.medianDeliverySeconds).not.toBeNull();

    const db = new Database(path, { strict: true });
    for (const migration of INDEX_MIGRATIONS.slice(0, version)) db.run(migration as string);
    db.run(`PRAGMA application_id = ${INDEX_APPLICATION_ID}`);
    db.run(`PRAGMA user_version = ${version}`);
    for (const { row, slot } of batch.escrows) insertInto(db, "escrow", formerEscrow(row, slot));
    for (const event of expected.events) insertInto(db, "event", formerEvent(event));
    db.close();

    // What a sync of the same ledger finds is the same again, but for the merchant, who is new to the file.
    const [result, seen] = await Effect.runPromise(
      Effect.provide(Effect.zip(fill, everything), escrowIndexSqlite({ path, ...ledger })),
    );
    expect(result).toEqual({
      ...applied,
      merchants: { created: 1, updated: 0, unchanged: 0 },
    });
    expect(seen).toEqual(expected);
    rmSync(folder, { recursive: true });
  },
);
