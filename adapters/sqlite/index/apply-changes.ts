import type { Database } from "bun:sqlite";
import { ledgerSignatureToBytes } from "../../../core/domain/ledger/signature.ts";
import type { IndexChanges } from "../../../ports/index/index-writer.ts";
import { StoreUnavailable } from "../../../ports/index/store-refusal.ts";
import { placeholders, toColumn } from "../columns.ts";
import { encodeBody } from "../../sql/escrow-body.ts";
import { bindEscrow, ESCROW_COLUMNS } from "./escrow-row.ts";
import { ledgerRow, unseenTable } from "./ledger-row.ts";
import { merchantTable } from "./merchant-table.ts";
import { tallyWriter } from "./merchant-tally.ts";

/** Rows per turn of the event loop, a few milliseconds of work. */
const AT_ONCE = 250;

/** Writes changes in steps of a few milliseconds, inside one transaction. */
export const changesWriter = (db: Database) => {
  const insert = db.query<null, Array<number | bigint | Uint8Array | null>>(
    `INSERT INTO escrow (${ESCROW_COLUMNS.join(", ")}) VALUES (${placeholders(ESCROW_COLUMNS, 1)})`,
  );
  const remove = db.query<{ body: Uint8Array }, [bigint]>(
    "DELETE FROM escrow WHERE created_seq = ?1 RETURNING body",
  );
  const refer = db.query<null, [bigint, Uint8Array, bigint]>(
    `INSERT INTO event_transaction (position, signature, slot) VALUES (?1, ?2, ?3)
     ON CONFLICT (position) DO NOTHING`,
  );
  const ledger = ledgerRow(db);
  const merchants = merchantTable(db, "merchant");
  const unseen = unseenTable(db, "unseen_escrow");
  const tally = tallyWriter(db);

  return function* apply(changes: IndexChanges): Generator<void, void> {
    const stored = ledger.read().mark?.count ?? null;
    if (stored !== changes.from) {
      const cause = `the index is complete to ${stored}, and the changes begin at ${changes.from}`;
      throw new StoreUnavailable({ retryable: true, cause });
    }
    const counts = { escrows: 0, unseen: 0, merchants: 0 };
    const sums = tally.summing();
    let worked = 0;
    const isTurn = (): boolean => (worked += 1) % AT_ONCE === 0;

    /** A number stands for one escrow, seen or unseen. */
    const removeRow = (createdSeq: bigint): void => {
      const removed = remove.get(createdSeq);
      if (removed !== null) {
        counts.escrows -= 1;
        sums.count(removed.body, -1);
      } else if (unseen.remove(createdSeq)) counts.unseen -= 1;
    };

    for (const row of changes.unseen) {
      removeRow(row.createdSeq);
      unseen.insert(row);
      counts.unseen += 1;
      if (isTurn()) yield;
    }
    for (const row of changes.escrows) {
      removeRow(row.createdSeq);
      const body = encodeBody(row);
      const values: Array<number | bigint | Uint8Array | null> = [];
      bindEscrow(values, body);
      insert.run(...values);
      counts.escrows += 1;
      sums.count(body, 1);
      if (isTurn()) yield;
    }
    for (const observed of changes.merchants) {
      if (merchants.put(observed)) counts.merchants += 1;
      if (isTurn()) yield;
    }
    for (const { position, signature, slot } of changes.transactions) {
      refer.run(position, ledgerSignatureToBytes(signature), toColumn(slot));
      if (isTurn()) yield;
    }
    sums.write();
    ledger.count(counts);
    if (changes.mark !== null) ledger.mark(changes.mark);
    if (changes.snapshotAtMs !== undefined) ledger.snapshot(changes.snapshotAtMs);
  };
};
