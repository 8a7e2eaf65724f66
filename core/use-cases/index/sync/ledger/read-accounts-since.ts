import { Duration, Effect, Schedule } from "effect";
import type { Address } from "../../../../domain/address.ts";
import { Ledger } from "../../../../../ports/ledger/ledger.ts";
import { refuseOlder } from "../../../refuse-answer.ts";

/** The most accounts that the ledger reads in one request. */
export const READ_AT_ONCE = 100;

/** Waits before a read that lags, or a history that does, is tried again: 200, 400 and 800 ms. */
export const LAG_RETRIES = Schedule.max([
  Schedule.exponential(Duration.millis(200)),
  Schedule.recurs(3),
]);

/**
 * At most 100 finalized accounts of one slot, `since` or a newer one. A node that lags is asked again for a while.
 * Fails like the ledger.
 */
export const readAccountsSince = Effect.fnUntraced(function* (
  addresses: ReadonlyArray<Address>,
  since: bigint,
) {
  const ledger = yield* Ledger;
  const read = yield* Effect.repeat(ledger.readAccounts(addresses, "finalized", undefined, since), {
    schedule: LAG_RETRIES,
    until: ({ slot }) => slot >= since,
  });
  yield* refuseOlder(read.slot, since);
  return read;
});
