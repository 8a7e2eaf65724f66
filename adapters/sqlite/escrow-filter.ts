import { addressToBytes } from "../../core/domain/address.ts";
import { ESCROW_STATES, type EscrowState } from "../../core/domain/escrow.ts";
import type { EscrowFilter } from "../../ports/escrow-index.ts";
import type { NamedValues } from "./columns.ts";

/** The number by which a state stands in the file. */
export const stateNumber = (state: EscrowState): number => ESCROW_STATES.indexOf(state);

/** The state that a number in the file stands for. @throws Error for another number. */
export const stateOf = (column: bigint): EscrowState => {
  const state = ESCROW_STATES[Number(column)];
  if (state === undefined) throw new Error("the schema allows no other state");
  return state;
};

/** The states a filter leaves possible: a refundable escrow is Pending. */
export const statesOf = (filter: EscrowFilter): ReadonlyArray<EscrowState> => {
  const states = filter.state === undefined ? ESCROW_STATES : [filter.state];
  return filter.refundableAt === undefined ? states : states.filter((s) => s === "Pending");
};

/** Conditions on the parties a filter names. */
export const partyConditions = (filter: EscrowFilter): ReadonlyArray<string> => [
  ...(filter.agentOwner === undefined ? [] : ["agent_owner = $agentOwner"]),
  ...(filter.merchant === undefined ? [] : ["merchant = $merchant"]),
];

/** What a filter's conditions bind; the state stands in the statement itself. */
export const filterValues = (filter: EscrowFilter): NamedValues => ({
  ...(filter.agentOwner !== undefined && { agentOwner: addressToBytes(filter.agentOwner) }),
  ...(filter.merchant !== undefined && { merchant: addressToBytes(filter.merchant) }),
  ...(filter.refundableAt !== undefined && { refundableAt: filter.refundableAt }),
});
