import type { Database } from "bun:sqlite";
import type { Address } from "../../../core/domain/address.ts";
import type { Escrow } from "../../../core/domain/escrow/escrow.ts";
import { type Hash32, hash32ToBytes } from "../../../core/domain/hash32.ts";
import type { UnseenEscrow } from "../../../core/domain/index/indexed-escrow.ts";
import type { EscrowFilter, EscrowsAt } from "../../../ports/index/index-reader.ts";
import { LAST_SEQ, type NamedValues } from "../columns.ts";
import { BODY_AT, decodeBody } from "../../sql/escrow-body.ts";
import { addressKey, HAS_PROOF, hashKey, inBody } from "./escrow-row.ts";
import { unseenByAddress } from "./ledger-row.ts";
import { escrowRuns, pageOfRuns, runValues } from "./escrow-runs.ts";

type Row = { readonly body: Uint8Array };

/** Escrows of a hash at a place of their bodies, newest first, by an index of its first bytes. */
const hashRun = (index: string, begin: number, condition: string): string =>
  `SELECT * FROM (SELECT body FROM escrow INDEXED BY ${index}
   WHERE ${condition}${hashKey(begin)} = $key AND ${inBody(begin)} = $hash ORDER BY rowid DESC LIMIT $limit)`;

/** Reads the table `escrow`, by pages and by address. */
export const escrowPages = (db: Database) => {
  const one = db.query<Row, [number, Uint8Array]>(
    `SELECT body FROM escrow WHERE address_key = ?1 AND ${inBody(BODY_AT.address)} = ?2`,
  );
  const bodyAt = (address: Address): Uint8Array | undefined => {
    const { key, bytes } = addressKey(address);
    return one.get(key, bytes)?.body;
  };
  const ofHash = db.query<Row, NamedValues>(
    `${hashRun("escrow_by_task", BODY_AT.taskHash, "")}
     UNION ALL ${hashRun("escrow_by_proof", BODY_AT.proofHash, `${HAS_PROOF} AND `)}`,
  );
  const unseenAt = unseenByAddress(db);
  // A row that a writer moves from one table to the other meanwhile is in one of the two.
  const at = db.transaction((addresses: ReadonlyArray<Address>): EscrowsAt => {
    const escrows: Array<Escrow> = [];
    const unseen: Array<UnseenEscrow> = [];
    for (const address of addresses) {
      const body = bodyAt(address);
      if (body !== undefined) escrows.push(decodeBody(body));
      else unseen.push(...[unseenAt(address)].filter((row) => row !== undefined));
    }
    return { escrows, unseen };
  });
  return {
    /** The body of the row at an address, undefined when there is none. */
    bodyAt,
    /** The stored ones of these escrows, with all their fields or unseen. */
    at: (addresses: ReadonlyArray<Address>): EscrowsAt => {
      // Each live read asks for one escrow, mostly a whole one, which one query finds in one state of the store.
      const [address, ...others] = addresses;
      const body = address === undefined || others.length > 0 ? undefined : bodyAt(address);
      return body === undefined
        ? at.deferred(addresses)
        : { escrows: [decodeBody(body)], unseen: [] };
    },
    /** At most `limit` escrows whose task hash or proof hash is this one, newest first. */
    ofHash: (hash: Hash32, limit: number): ReadonlyArray<Escrow> => {
      const bytes = hash32ToBytes(hash);
      const rows = ofHash.all({ key: bytes.slice(0, 6), hash: bytes, limit });
      const escrows = new Map(
        rows.map(({ body }) => decodeBody(body)).map((one) => [one.createdSeq, one]),
      );
      return [...escrows.values()]
        .sort((a, b) => (a.createdSeq < b.createdSeq ? 1 : -1))
        .slice(0, limit);
    },
    /** At most `limit` escrows created before `before`, newest first. */
    page: (filter: EscrowFilter, limit: number, before: bigint | null): ReadonlyArray<Escrow> => {
      const runs = escrowRuns(filter);
      if (runs.length === 0) return [];
      const columns = runs.length === 1 ? "body" : "created_seq AS seq, body";
      return db
        .query<Row, NamedValues>(pageOfRuns(runs, () => columns, "DESC"))
        .all({ limit, after: -1, before: before ?? LAST_SEQ, ...runValues(filter) })
        .map(({ body }) => decodeBody(body));
    },
  };
};
