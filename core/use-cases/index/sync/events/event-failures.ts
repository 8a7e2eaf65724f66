import { untrustworthy } from "../../../refuse-answer.ts";

/** The failure of a sync that did not find every event. `first` are the first missing numbers. */
export const eventsMissing = (count: bigint, first: ReadonlyArray<bigint>) =>
  untrustworthy(
    `${count} of the custody program's events are missing, the first of them ${first.join(", ")}`,
  );

/** The failure for accounts whose leaves contradict the ledger's count and head, in a number or above one and up to another. */
export const eventsContradict = (where: bigint | { readonly from: bigint; readonly to: bigint }) =>
  untrustworthy(
    typeof where === "bigint"
      ? `the account of event ${where} contradicts another answer about it`
      : `the events ${where.from + 1n} to ${where.to} do not chain to the custody program's head`,
  );
