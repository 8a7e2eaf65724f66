import { type EscrowState, ESCROW_STATES } from "../../../core/domain/escrow/escrow.ts";
import type { EscrowFilter } from "../../../ports/index/index-reader.ts";
import { stateNumber, statesOf } from "../../sql/index-rows.ts";
import type { NamedValues } from "../columns.ts";
import { BODY_AT } from "../../sql/escrow-body.ts";
import { addressKey, inBody, runOf } from "./escrow-row.ts";

/**
 * Rows of the table `escrow` that an index gives in the order of the column `seq`, as the FROM and WHERE of a query.
 * Merging several runs by `seq` gives a page.
 */
export type Run = {
  readonly seq: "created_seq" | "settled_seq";
  readonly from: string;
  readonly conditions: ReadonlyArray<string>;
};

const SETTLED = ESCROW_STATES.filter((state) => state !== "Pending");

/** The party that a filter names: the prefix of the index to use, and conditions on the exact addresses. */
const partyOf = ({ merchant, agentOwner }: EscrowFilter) => {
  const exact = [
    ...(merchant === undefined ? [] : [`${inBody(BODY_AT.merchant)} = $merchant`]),
    ...(agentOwner === undefined ? [] : [`${inBody(BODY_AT.agentOwner)} = $agent`]),
  ];
  if (merchant !== undefined) return { name: "merchant", exact };
  return agentOwner === undefined ? undefined : { name: "agent", exact };
};

/** The runs of a filter's escrows in one of `states`, in the order of their creation. */
const createdRuns = (
  filter: EscrowFilter,
  states: ReadonlyArray<EscrowState>,
): ReadonlyArray<Run> => {
  const party = partyOf(filter);
  const ends = [
    ...(filter.refundableAt === undefined ? [] : ["expires_at <= $refundableAt"]),
    ...(filter.expiresAfter === undefined ? [] : ["expires_at > $expiresAfter"]),
  ];
  if (party === undefined && states.length === ESCROW_STATES.length)
    return [{ seq: "created_seq", from: "escrow", conditions: [] }];
  return states.map((state) => ({
    seq: "created_seq",
    from: `escrow INDEXED BY escrow_by_${party?.name ?? "state"}`,
    conditions: [
      party === undefined
        ? `state = ${stateNumber(state)}`
        : `${party.name}_run = $run + ${stateNumber(state)}`,
      ...(party?.exact ?? []),
      ...ends,
    ],
  }));
};

/** The runs of settled escrows by the numbers of their settlements. */
const settledRuns = (
  filter: EscrowFilter,
  states: ReadonlyArray<EscrowState>,
): ReadonlyArray<Run> => {
  const party = partyOf(filter);
  return states.map((state) => ({
    seq: "settled_seq",
    from: `escrow INDEXED BY settled_by_${party?.name ?? "state"}`,
    conditions: [
      party === undefined
        ? `state = ${stateNumber(state)}`
        : `${party.name}_run = $run + ${stateNumber(state)}`,
      ...(party?.exact ?? []),
    ],
  }));
};

/** The runs that give the escrows of a filter, in the order of their creation. */
export const escrowRuns = (filter: EscrowFilter): ReadonlyArray<Run> =>
  createdRuns(filter, statesOf(filter));

/** The runs that give the events of a filter: creations, of escrows in every state, and settlements. */
export const eventRuns = (filter: EscrowFilter): ReadonlyArray<Run> => {
  const states = statesOf(filter);
  const created = states.includes("Pending")
    ? createdRuns(filter, filter.refundableAt === undefined ? ESCROW_STATES : ["Pending"])
    : [];
  return [
    ...created,
    ...settledRuns(
      filter,
      SETTLED.filter((state) => states.includes(state)),
    ),
  ];
};

/** The parameters of the conditions of a filter's runs. */
export const runValues = ({
  merchant,
  agentOwner,
  refundableAt,
  expiresAfter,
}: EscrowFilter): NamedValues => {
  const [merchantKey, agentKey] = [
    merchant && addressKey(merchant),
    agentOwner && addressKey(agentOwner),
  ];
  const party = merchantKey ?? agentKey;
  return {
    ...(party !== undefined && { run: BigInt(runOf(party.key, 0)) }),
    ...(merchantKey !== undefined && { merchant: merchantKey.bytes }),
    ...(agentKey !== undefined && { agent: agentKey.bytes }),
    ...(refundableAt !== undefined && { refundableAt }),
    ...(expiresAfter !== undefined && { expiresAfter }),
  };
};

/**
 * A page over runs: `columns` of the rows with `$after < seq < $before`, in this order of `seq`, at most `$limit`.
 * `join` adds a table to each run, and `more` are conditions on it. Each run is in order already, so that SQLite merges
 * them and stops at the limit.
 */
export const pageOfRuns = (
  runs: ReadonlyArray<Run>,
  columns: (run: Run) => string,
  order: "ASC" | "DESC",
  join: (run: Run) => string = () => "",
  more: ReadonlyArray<string> = [],
): string => {
  const selects = runs.map((run) => {
    const conditions = [`${run.seq} > $after`, `${run.seq} < $before`, ...run.conditions, ...more];
    return `SELECT ${columns(run)} FROM ${run.from} ${join(run)} WHERE ${conditions.join(" AND ")}`;
  });
  // A single run is not merged, so its own column is used.
  const seq = runs.length === 1 ? (runs[0]?.seq ?? "seq") : "seq";
  return `${selects.join(" UNION ALL ")} ORDER BY ${seq} ${order} LIMIT $limit`;
};
