import { type EscrowState } from "../../core/domain/escrow/escrow.ts";
import { EVENT_KINDS, type EventKind } from "../../core/domain/index/settlement-event.ts";

/** The state that an event of each kind led to. */
const STATE_AFTER: Readonly<Record<EventKind, EscrowState>> = {
  escrow_created: "Pending",
  escrow_released: "Fulfilled",
  escrow_partially_released: "PartiallyFulfilled",
  escrow_refunded: "Refunded",
};

/** The number by which a kind stands in the file: 0 for creation, more for a settlement. */
export const kindNumber = (kind: EventKind): number => EVENT_KINDS.indexOf(kind);

/** The kind that a number in the file stands for. @throws Error for another number. */
export const kindOf = (column: bigint): EventKind => {
  const kind = EVENT_KINDS[Number(column)];
  if (kind === undefined) throw new Error("no event of another kind is ever written");
  return kind;
};

/** The state that an event of a kind led to. */
export const stateAfter = (kind: EventKind): EscrowState => STATE_AFTER[kind];

/** The numbers of the kinds that led to these states. */
export const kindNumbersOf = (states: ReadonlyArray<EscrowState>): ReadonlyArray<number> =>
  EVENT_KINDS.filter((kind) => states.includes(STATE_AFTER[kind])).map(kindNumber);
