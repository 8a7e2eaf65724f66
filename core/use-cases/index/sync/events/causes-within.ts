import { Effect } from "effect";
import type { LedgerTransaction } from "../../../../domain/ledger/history.ts";
import {
  type EventCause,
  eventCausesOf,
} from "../../../../protocol/transaction/settlement-transaction.ts";
import { Instance } from "../../../../../ports/instance.ts";

/** Slots from `since` to `to`, both included. */
export type Slots = { readonly since: bigint; readonly to: bigint };

/** The one slot. */
export const onlySlot = (slot: bigint): Slots => ({ since: slot, to: slot });

/**
 * The events that a transaction caused, none when a node shows it in a slot where it cannot be, such as another one than
 * a history lists. A transaction is in one slot, a stored reference is never replaced, and no chain proves it: so such an
 * event stays without a transaction until a node agrees with itself.
 */
export const causesWithin = Effect.fnUntraced(function* (
  transaction: LedgerTransaction,
  { since, to }: Slots,
) {
  const { deployment } = yield* Instance;
  const { signature, slot } = transaction;
  const causes = eventCausesOf(transaction, deployment);
  if (causes.length === 0 || (slot >= since && slot <= to)) return causes;
  yield* Effect.logWarning("a node shows a transaction in a slot where it cannot be", {
    signature,
    slot,
    since,
    to,
  });
  const none: ReadonlyArray<EventCause> = [];
  return none;
});
