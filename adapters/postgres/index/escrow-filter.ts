import { addressToBytes } from "../../../core/domain/address.ts";
import { ESCROW_STATES, type EscrowState } from "../../../core/domain/escrow/escrow.ts";
import type { EscrowFilter } from "../../../ports/index/index-reader.ts";
import type { bindings } from "../queries.ts";

/** The number by which a state stands in the store. */
export const stateNumber = (state: EscrowState): number => ESCROW_STATES.indexOf(state);

/** The state that a number in the store stands for. @throws Error for another number. */
export const stateOf = (column: number): EscrowState => {
  const state = ESCROW_STATES[column];
  if (state === undefined) throw new Error("the schema allows no other state");
  return state;
};

/** The states a filter leaves possible: a refundable escrow is Pending. */
export const statesOf = (filter: EscrowFilter): ReadonlyArray<EscrowState> => {
  const states = filter.state === undefined ? ESCROW_STATES : [filter.state];
  return filter.refundableAt === undefined ? states : states.filter((s) => s === "Pending");
};

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
