import type { Escrow, Merchant } from "../../generated/contract.ts";
import { dataBy } from "../../service/operation.ts";
import { SettlementError } from "../../settlement-error.ts";
import { escrowsOf, EXPORT_COLUMNS, type IndexedEscrows } from "./read-escrows.ts";
import { addressNamed } from "../../pinned-policy.ts";
import { type MerchantContext, readMerchant } from "../merchant-context.ts";

/** One escrow of an export. */
export type ExportRow = { readonly [K in (typeof EXPORT_COLUMNS)[number]]: Escrow[K] };

/** What a merchant's account counts, and the same counted over rows. */
export type Totals = {
  /** Escrows that were released in full, of every mint. */
  readonly deliveries: number;
  readonly partial_deliveries: number;
  /** Base units of the settlement mint that went to the merchant, decimal. */
  readonly volume_stroops: string;
};

/** A merchant's escrows, oldest first, with totals that equal the ledger's. */
export type Export = { readonly rows: ReadonlyArray<ExportRow>; readonly totals: Totals };

/** How often the index is read until it has caught up with the ledger, and the pause between. */
const TRIES = 10;
const AGAIN_MS = 1_000;

/** The row of an escrow. */
export const exportRow = (escrow: Escrow): ExportRow =>
  Object.fromEntries(EXPORT_COLUMNS.map((name) => [name, escrow[name]])) as ExportRow;

/**
 * The totals over rows, as the programs count them (`count_delivery` of the attestor program): at a release only, with
 * all that was captured before.
 */
export const totalsOf = (rows: ReadonlyArray<ExportRow>, settlementMint: string | null): Totals => {
  const counted = rows.filter(({ settled_by }) => settled_by === "release");
  const count = (state: Escrow["state"]) => counted.filter((row) => row.state === state).length;
  const volume = counted
    .filter(({ mint }) => mint === settlementMint)
    .reduce((sum, row) => sum + BigInt(row.released_stroops ?? "0"), 0n);
  return {
    deliveries: count("Fulfilled"),
    partial_deliveries: count("PartiallyFulfilled"),
    volume_stroops: volume.toString(),
  };
};

/**
 * A row as a line of CSV (RFC 4180) without its end; null is empty. No column can hold a comma, a quote or a line
 * break.
 * @example
 * import { csvLine, EXPORT_COLUMNS } from "settlement-evidence/merchant";
 *
 * const header = EXPORT_COLUMNS.join(",");
 * csvLine(row).split(",").length; // => header.split(",").length
 */
export const csvLine = (row: ExportRow): string =>
  EXPORT_COLUMNS.map((name) => row[name] ?? "").join(",");

const totalsIn = ({ deliveries, partial_deliveries, volume_stroops }: Merchant): Totals => ({
  deliveries,
  partial_deliveries,
  volume_stroops,
});

const differences = (rows: Totals, ledger: Totals): ReadonlyArray<string> =>
  (Object.keys(ledger) as ReadonlyArray<keyof Totals>).flatMap((name) =>
    rows[name] === ledger[name] ? [] : [`${name}: rows ${rows[name]}, ledger ${ledger[name]}`],
  );

const unequal = (differing: ReadonlyArray<string>, { unseen }: IndexedEscrows): never => {
  throw new SettlementError(
    "totals_differ",
    `The rows do not come to what the merchant's account counts: ${differing.join("; ")}.`,
    unseen > 0
      ? `The index lacks ${unseen} archived escrows whose bytes nobody has shown: use a service that saw them.`
      : "Wait until the index has caught up (GET /v1/status), and run the same again.",
  );
};

/**
 * Every escrow of a merchant, once the totals over them equal the counters of the merchant's account. @throws
 * SettlementError `totals_differ` with both sides when they do not.
 */
export const exportEscrows = async (
  context: MerchantContext,
  { merchant, signal }: { readonly merchant: string; readonly signal?: AbortSignal },
): Promise<Export> => {
  const { requests } = context;
  const wallet = addressNamed(merchant, "merchant");
  const status = await dataBy(requests, "GET /v1/status", {}, { signal });
  for (let tried = 1; ; tried++) {
    const indexed = await escrowsOf(requests, wallet, { signal });
    const account = await readMerchant(context, wallet, signal);
    if (account === null)
      throw new SettlementError(
        "merchant_not_found",
        `${wallet} is not registered.`,
        "Name the merchant's wallet.",
      );
    const rows = indexed.escrows.map(exportRow).toReversed();
    const totals = totalsOf(rows, status.settlement_mint);
    const differing = differences(totals, totalsIn(account));
    if (differing.length === 0) return { rows, totals };
    if (tried === TRIES) return unequal(differing, indexed);
    await requests.clock.pause(AGAIN_MS, signal);
  }
};
