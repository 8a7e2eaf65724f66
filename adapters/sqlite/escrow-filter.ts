import { ESCROW_STATES, type EscrowState } from "../../core/domain/escrow/escrow.ts";
import type { EscrowFilter } from "../../ports/escrow-index.ts";
import type { AddressBook } from "./address-book.ts";
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
export const partyConditions = (filter: EscrowFilter, table = ""): ReadonlyArray<string> => [
  ...(filter.agentOwner === undefined ? [] : [`${table}agent_owner = $agentOwner`]),
  ...(filter.merchant === undefined ? [] : [`${table}merchant = $merchant`]),
];

/**
 * What a filter's conditions bind; states stand in the statement itself. Undefined where it names an address that
 * no row does: nothing matches.
 */
export const filterValues = (book: AddressBook, filter: EscrowFilter): NamedValues | undefined => {
  const agentOwner = filter.agentOwner && book.find(filter.agentOwner);
  const merchant = filter.merchant && book.find(filter.merchant);
  if (filter.agentOwner !== undefined && agentOwner === undefined) return undefined;
  if (filter.merchant !== undefined && merchant === undefined) return undefined;
  return {
    ...(agentOwner !== undefined && { agentOwner }),
    ...(merchant !== undefined && { merchant }),
    ...(filter.refundableAt !== undefined && { refundableAt: filter.refundableAt }),
  };
};
