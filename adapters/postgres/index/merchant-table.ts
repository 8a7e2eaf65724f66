import type { Address } from "../../../core/domain/address.ts";
import { foldName, nameKey } from "../../../core/domain/merchant/merchant-search.ts";
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
} from "../queries.ts";
import {
  MERCHANT_COLUMNS,
  type MerchantRow,
  merchantOf,
  merchantValues,
  observedOf,
} from "../../sql/merchant-row.ts";
import { type Query, shown } from "./escrow-pages.ts";

const COLUMNS = columnsOf(MERCHANT_COLUMNS);

type EntryRow = MerchantRow & {
  readonly pending_count: bigint;
  readonly fulfilled_count: bigint;
  readonly refunded_count: bigint;
  readonly partially_fulfilled_count: bigint;
  readonly median_delivery_seconds: bigint | null;
  readonly same_name: bigint;
};

const valuesOf = (observed: Observed<Merchant>) => merchantValues(observed, (slot) => slot);

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

/**
 * Inserts or replaces merchants' rows and returns how many are new. Of several rows for one merchant, the last counts.
 */
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
  ).map(observedOf);

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
    const inName = text.includes("\0") ? "false" : `strpos(folded_name, ${bind(text)}) > 0`;
    // A text with a space could otherwise match across two addresses.
    const inAddress = /[ \0]/.test(text) ? "false" : `strpos(folded_addresses, ${bind(text)}) > 0`;
    conditions.push(`(${inName} OR ${inAddress})`);
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
