import { addressToBytes } from "../../../core/domain/address.ts";
import type { EscrowFilter } from "../../../ports/index/index-reader.ts";
import type { bindings } from "../queries.ts";

/** Conditions on the parties a filter names. */
export const partyConditions = (
  { agentOwner, merchant }: EscrowFilter,
  { bind }: ReturnType<typeof bindings>,
): ReadonlyArray<string> => [
  ...(agentOwner === undefined ? [] : [`agent_owner = ${bind(addressToBytes(agentOwner))}`]),
  ...(merchant === undefined ? [] : [`merchant = ${bind(addressToBytes(merchant))}`]),
];

/**
 * One statement whose rows are those of several runs merged: each run is in order and ends at the
 * limit, so that the server reads no further in any of them.
 */
export const mergedRuns = (runs: ReadonlyArray<string>, order: string, limit: string): string => {
  const tail = `ORDER BY ${order} LIMIT ${limit}`;
  const [only] = runs;
  if (runs.length === 1) return `${only} ${tail}`;
  return `${runs.map((run) => `(${run} ${tail})`).join(" UNION ALL ")} ${tail}`;
};

/** A statement whose rows are those of a page that is in order already, and none while the index has no mark. */
export const shown = (page: string, order: string): string =>
  `SELECT * FROM (${page}) AS page WHERE (SELECT mark_count IS NOT NULL FROM ledger) ORDER BY ${order}`;
