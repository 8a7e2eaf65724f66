import { type Address, addressFromBytes, addressToBytes } from "../../../core/domain/address.ts";
import {
  foldName,
  nameKey,
  searchableAddresses,
} from "../../../core/domain/merchant/merchant-search.ts";
import { MERCHANT_STATUSES, type Merchant } from "../../../core/domain/merchant/merchant.ts";
import type {
  MerchantCursor,
  MerchantFilter,
  RegistryEntry,
} from "../../../ports/index/index-reader.ts";
import type { Observed } from "../../../ports/index/index-writer.ts";
import {
  arraysOf,
  bindings,
  columnsOf,
  inputOf,
  namesOf,
  portionsOf,
  type Queries,
  rowsOf,
  type Values,
} from "../queries.ts";
import { shown } from "./escrow-filter.ts";
import type { Query } from "./escrow-pages.ts";

/** What a merchant's row binds, in the order of `valuesOf`. */
const COLUMNS = columnsOf({
  address: "TEXT",
  slot: "NUMERIC",
  bump: "INT2",
  wallet: "BYTEA",
  name: "TEXT",
  status: "INT2",
  attestor: "BYTEA",
  previous_attestor: "BYTEA",
  attestor_since: "INT8",
  registered_at: "INT8",
  updated_at: "INT8",
  reputation: "INT8",
  slashes: "INT8",
  deliveries: "NUMERIC",
  partial_deliveries: "NUMERIC",
  volume: "NUMERIC",
  revoked_seq: "NUMERIC",
  name_key: "TEXT",
  folded_name: "TEXT",
  folded_addresses: "TEXT",
});

type MerchantRow = {
  readonly address: Address;
  readonly slot: string;
  readonly bump: number;
  readonly wallet: Uint8Array;
  readonly name: string;
  readonly status: number;
  readonly attestor: Uint8Array;
  readonly previous_attestor: Uint8Array | null;
  readonly attestor_since: bigint;
  readonly registered_at: bigint;
  readonly updated_at: bigint;
  readonly reputation: bigint;
  readonly slashes: bigint;
  readonly deliveries: string;
  readonly partial_deliveries: string;
  readonly volume: string;
  readonly revoked_seq: string;
};

type EntryRow = MerchantRow & {
  readonly pending_count: bigint;
  readonly fulfilled_count: bigint;
  readonly refunded_count: bigint;
  readonly partially_fulfilled_count: bigint;
  readonly median_delivery_seconds: bigint | null;
  readonly same_name: bigint;
};

const valuesOf = ({ row, slot }: Observed<Merchant>): Values => [
  row.address,
  slot,
  row.bump,
  addressToBytes(row.wallet),
  row.name,
  MERCHANT_STATUSES.indexOf(row.status),
  addressToBytes(row.attestor),
  row.previousAttestor && addressToBytes(row.previousAttestor),
  row.attestorSince,
  row.registeredAt,
  row.updatedAt,
  row.reputation,
  row.slashes,
  row.deliveries,
  row.partialDeliveries,
  row.volume,
  row.revokedSeq,
  nameKey(row.name),
  foldName(row.name),
  searchableAddresses(row).join(" "),
];

const merchantOf = (row: MerchantRow): Merchant => {
  const status = MERCHANT_STATUSES[row.status];
  if (status === undefined) throw new Error("no merchant of another status is ever written");
  return {
    address: row.address,
    bump: row.bump,
    wallet: addressFromBytes(row.wallet),
    name: row.name,
    status,
    attestor: addressFromBytes(row.attestor),
    previousAttestor: row.previous_attestor && addressFromBytes(row.previous_attestor),
    attestorSince: row.attestor_since,
    registeredAt: row.registered_at,
    updatedAt: row.updated_at,
    reputation: Number(row.reputation),
    slashes: Number(row.slashes),
    deliveries: BigInt(row.deliveries),
    partialDeliveries: BigInt(row.partial_deliveries),
    volume: BigInt(row.volume),
    revokedSeq: BigInt(row.revoked_seq),
  };
};

const entryOf = (row: EntryRow): RegistryEntry => {
  const counts = [
    row.pending_count,
    row.fulfilled_count,
    row.refunded_count,
    row.partially_fulfilled_count,
  ].map(Number);
  const [pending = 0, fulfilled = 0, refunded = 0, partiallyFulfilled = 0] = counts;
  return {
    merchant: merchantOf(row),
    sameName: Number(row.same_name),
    stats: {
      escrows: pending + fulfilled + refunded + partiallyFulfilled,
      pending,
      fulfilled,
      partiallyFulfilled,
      refunded,
      medianDeliverySeconds: row.median_delivery_seconds,
    },
  };
};

const PUT = `
  WITH input AS (SELECT * FROM ${inputOf(COLUMNS)}),
    before AS (SELECT FROM merchant WHERE address IN (SELECT address FROM input)),
    put AS (
      INSERT INTO merchant (${namesOf(COLUMNS)}) SELECT ${namesOf(COLUMNS)} FROM input
      ON CONFLICT (address) DO UPDATE SET
        ${COLUMNS.map(({ name }) => `${name} = excluded.${name}`).join(", ")}
    )
  SELECT (SELECT count(*) FROM input) - (SELECT count(*) FROM before) AS added`;

/** Puts merchants' rows, of several for one merchant the last, and returns how many are new. */
export const putMerchants = async (
  sql: Queries,
  merchants: ReadonlyArray<Observed<Merchant>>,
): Promise<number> => {
  const last = new Map(merchants.map((one) => [one.row.address, one]));
  let added = 0;
  for (const portion of portionsOf([...last.values()])) {
    const values = arraysOf(sql, COLUMNS, portion.map(valuesOf));
    const [row] = await rowsOf<{ added: bigint }>(sql, PUT, values);
    added += Number(row?.added);
  }
  return added;
};

/** The stored ones of these merchants, with their slots. */
export const merchantsAt = async (
  sql: Queries,
  addresses: ReadonlyArray<Address>,
): Promise<ReadonlyArray<Observed<Merchant>>> =>
  (
    await rowsOf<MerchantRow>(
      sql,
      shown("SELECT * FROM merchant WHERE address = ANY($1::text[])", "address"),
      [sql.array([...addresses], "TEXT")],
    )
  ).map((row) => ({ row: merchantOf(row), slot: BigInt(row.slot) }));

/** The statistics of one merchant's escrows, from the tallies; see `merchantStats` for what they mean. */
const STATISTICS = `
  CROSS JOIN LATERAL (
    SELECT ${["pending", "fulfilled", "refunded", "partially_fulfilled"]
      .map(
        (name, state) =>
          `coalesce(sum(escrows) FILTER (WHERE state = ${state}), 0)::int8 AS ${name}_count`,
      )
      .join(", ")}
    FROM escrow_tally WHERE escrow_tally.merchant = page.wallet
  ) AS counts
  LEFT JOIN LATERAL (
    SELECT seconds AS median_delivery_seconds FROM (
      SELECT seconds, sum(deliveries) OVER (ORDER BY seconds) AS up_to,
        sum(deliveries) OVER () AS total
      FROM delivery_tally WHERE delivery_tally.merchant = page.wallet
    ) AS delivered WHERE up_to > (total::int8 - 1) / 2 ORDER BY seconds LIMIT 1
  ) AS median ON true
  CROSS JOIN LATERAL (
    SELECT count(*) AS same_name FROM merchant AS other
    WHERE other.name_key = page.name_key AND other.address <> page.address
  ) AS names`;

/** The statement for a page of the registry. */
export const registryPageQuery = (
  filter: MerchantFilter,
  limit: number,
  after: MerchantCursor | null,
): Query => {
  const { bind, values } = bindings();
  const conditions = ["true"];
  if (after !== null)
    conditions.push(
      `(registered_at, address) > (${bind(after.registeredAt)}, ${bind(after.address)})`,
    );
  if (filter.status !== undefined)
    conditions.push(`status = ${bind(MERCHANT_STATUSES.indexOf(filter.status))}`);
  if (filter.minReputation !== undefined)
    conditions.push(`reputation >= ${bind(filter.minReputation)}`);
  if (filter.text !== undefined) {
    const text = foldName(filter.text);
    // Postgres has no U+0000 in text, and neither has a merchant's name.
    const found = text.includes("\0") ? "false" : `strpos(folded_name, ${bind(text)}) > 0`;
    // A text with a space could otherwise match across two addresses.
    const inAddress = /[ \0]/.test(text) ? "false" : `strpos(folded_addresses, ${bind(text)}) > 0`;
    conditions.push(`(${found} OR ${inAddress})`);
  }
  const page = `SELECT * FROM merchant WHERE ${conditions.join(" AND ")}
    ORDER BY registered_at, address LIMIT ${bind(limit)}`;
  const counted = `SELECT * FROM (${page}) AS page ${STATISTICS}`;
  return { text: shown(counted, "registered_at, address"), values };
};

/** How many merchants but the one at this address have the same `nameKey` as a name. */
export const sameNames = async (sql: Queries, name: string, except: Address): Promise<number> => {
  const [row] = await rowsOf<{ count: bigint }>(
    sql,
    `SELECT count(*) AS count FROM merchant WHERE name_key = $1 AND address <> $2
       AND (SELECT mark_count IS NOT NULL FROM ledger)`,
    [nameKey(name), except],
  );
  return Number(row?.count ?? 0n);
};

/** A page of the registry, the earliest registered first. */
export const registryPage = async (
  sql: Queries,
  ...page: Parameters<typeof registryPageQuery>
): Promise<ReadonlyArray<RegistryEntry>> => {
  const { text, values } = registryPageQuery(...page);
  return (await rowsOf<EntryRow>(sql, text, values)).map((row) => entryOf(row));
};
