import type { RejectedAccount } from "../../../../domain/index/sync-report.ts";
import { untrustworthy } from "../../../or-ask-another.ts";

/** The most accounts that a failure names. */
const MAX_NAMED = 3;

/**
 * The failure of a sync that did not find every event. `first` are the first missing numbers. It names some of the escrows
 * that could not be read, which may be those of the missing events.
 */
export const eventsMissing = (
  count: bigint,
  first: ReadonlyArray<bigint>,
  rejected: ReadonlyArray<RejectedAccount> = [],
) => {
  const named = rejected.slice(0, MAX_NAMED).map(({ address, fault }) => `${address} (${fault})`);
  const unreadable =
    named.length === 0 ? "" : `; accounts that cannot be read: ${named.join(", ")}`;
  return untrustworthy(
    `${count} of the custody program's events are missing, the first of them ${first.join(", ")}${unreadable}`,
  );
};

/** The failure for accounts whose leaves contradict the ledger's root, in a number or above one and up to another. */
export const eventsContradict = (where: bigint | { readonly from: bigint; readonly to: bigint }) =>
  untrustworthy(
    typeof where === "bigint"
      ? `the account of event ${where} contradicts another answer about it`
      : `the events ${where.from + 1n} to ${where.to} do not give the root that the custody program has`,
  );
