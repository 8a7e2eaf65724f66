import type { Database } from "bun:sqlite";
import type { Address } from "../../core/domain/address.ts";
import { nextEventLink } from "../../core/domain/index/event-chain.ts";
import { type Hash32, hash32ToBytes } from "../../core/domain/hash32.ts";
import { ledgerSignatureToBytes } from "../../core/domain/ledger/signature.ts";
import type { EventReference, SettlementEvent } from "../../core/domain/index/settlement-event.ts";
import type { AddressBook } from "./address-book.ts";
import { addressPrefix } from "./address-prefix.ts";
import { toColumn } from "./columns.ts";
import { kindNumber } from "./event-kind.ts";

/** Writes the table `event`, chained from `chainStart`. */
export const eventTable = (db: Database, book: AddressBook, chainStart: Hash32) => {
  const newest = db.query<{ position: bigint; chain_hash: Uint8Array }, []>(
    "SELECT position, chain_hash FROM event ORDER BY position DESC LIMIT 1",
  );
  const insert = db.query<null, Array<number | bigint | Uint8Array>>(
    `INSERT INTO event (position, escrow, kind, agent_owner, merchant, mint, amount, occurred_at, chain_hash)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)`,
  );
  const refer = db.query<null, [number, string, number, Uint8Array, bigint]>(
    `UPDATE event SET signature = ?4, transaction_slot = ?5
     WHERE position = (SELECT iif(?3 = 0, created_event, settled_event) FROM escrow
         WHERE address_prefix = ?1 AND address = ?2)
       AND kind = ?3 AND signature IS NULL`,
  );

  return {
    /** Begins to append behind the newest event; for use within one transaction. */
    appending: () => {
      const last = newest.get();
      let position = last === null ? 0 : Number(last.position);
      let hash = last === null ? hash32ToBytes(chainStart) : last.chain_hash;
      /** Writes an event of the escrow with this number, and returns its position. */
      return (escrow: number, event: SettlementEvent): number => {
        position += 1;
        hash = nextEventLink(hash, event);
        insert.run(
          position,
          escrow,
          kindNumber(event.kind),
          book.numberOf(event.agentOwner),
          book.numberOf(event.merchant),
          book.numberOf(event.mint),
          toColumn(event.amount),
          event.occurredAt,
          hash,
        );
        return position;
      };
    },
    /** Notes an event's transaction, unless one is noted already or there is no such event. */
    refer: ({ escrow, kind, signature, slot }: EventReference): void => {
      const address: Address = escrow;
      refer.run(
        addressPrefix(address),
        address,
        kindNumber(kind),
        ledgerSignatureToBytes(signature),
        slot,
      );
    },
  };
};

/** See `eventTable`. */
export type EventTable = ReturnType<typeof eventTable>;
