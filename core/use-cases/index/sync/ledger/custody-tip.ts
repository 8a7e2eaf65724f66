import { Clock, Effect } from "effect";
import { highestPlausibleSlot, nextPaceFrom } from "../../../../domain/index/slot-pace.ts";
import type { SyncMark } from "../../../../domain/index/sync-mark.ts";
import { decodeClockSysvar } from "../../../../protocol/accounts/clock-sysvar.ts";
import { decodeCustodyConfigAccount } from "../../../../protocol/accounts/custody-config-account.ts";
import { custodyConfigAddress } from "../../../../protocol/addresses/addresses.ts";
import { CLOCK_SYSVAR } from "../../../../protocol/addresses/well-known-addresses.ts";
import { Instance } from "../../../../../ports/instance.ts";
import { Ledger } from "../../../../../ports/ledger/ledger.ts";
import { SlotBeyondReach } from "../../../../../ports/index/slot-beyond-reach.ts";
import { untrustworthy } from "../../../refuse-answer.ts";
import { readAccountsSince } from "./read-accounts-since.ts";

/** What the ledger's custody program had numbered at a slot, and the ledger's clock there. */
export type CustodyTip = Omit<SyncMark, "atMs">;

/** The most slots by which one backend of a node is behind another. A tip further behind the mark is not waited for. */
const BACKEND_LAG = 64n;

/** The JSON-RPC methods whose answers name a slot here. */
type Method = "getEpochInfo" | "getMultipleAccounts";

/** Refuses a tip that is further below a mark than the backends of one node are apart. It is not waited for. */
const refuseFarBehind = (slot: bigint, mark: SyncMark | null) =>
  mark === null || slot + BACKEND_LAG >= mark.slot
    ? Effect.void
    : Effect.fail(
        new SlotBeyondReach({
          side: "behind",
          method: "getEpochInfo",
          detail: `slot ${slot} is more than ${BACKEND_LAG} below ${mark.slot}, at which the index stands`,
        }),
      );

/**
 * Refuses a slot that the ledger cannot have reached. A mark of an invented slot would keep every honest answer out until
 * the ledger gets there. The service's own ledger invents none, and its user may let it skip days.
 */
const refuseImplausible = Effect.fnUntraced(function* (
  slot: bigint,
  mark: SyncMark | null,
  method: Method,
) {
  if ((yield* Instance).runsLedger) return;
  const highest = highestPlausibleSlot(mark, yield* Clock.currentTimeMillis);
  if (slot <= highest) return;
  const detail = `slot ${slot} is above ${highest}, and the ledger cannot have reached it by this service's clock`;
  return yield* new SlotBeyondReach({ side: "ahead", method, detail });
});

/**
 * The finalized count and head of the custody program, with the ledger's clock of the same slot: one not below the
 * ledger's tip at the call, nor below that of `mark`. Fails like the ledger, and with `SlotBeyondReach`.
 */
export const readCustodyTip = Effect.fn("readCustodyTip")(function* (mark: SyncMark | null) {
  const ledger = yield* Ledger;
  const { deployment } = yield* Instance;
  // Another node may have taken over an address since the last sync.
  yield* ledger.confirmIdentity;
  const tip = yield* ledger.tip("finalized");
  yield* refuseFarBehind(tip.slot, mark);
  yield* refuseImplausible(tip.slot, mark, "getEpochInfo");
  const { address } = custodyConfigAddress(deployment);
  // A backend that lags may show the tip. The accounts are as new as the mark, or waited for.
  const from = mark === null || tip.slot > mark.slot ? tip.slot : mark.slot;
  const { slot, value } = yield* readAccountsSince([address, CLOCK_SYSVAR], from);
  yield* refuseImplausible(slot, mark, "getMultipleAccounts");
  const [config, clock] = value;
  if (config === null || config === undefined)
    return yield* untrustworthy(`no custody config at ${address}`);
  const decoded = decodeCustodyConfigAccount(config, deployment);
  if ("fault" in decoded)
    return yield* untrustworthy(`the custody config at ${address}: ${decoded.fault}`);
  const ledgerTime = decodeClockSysvar(clock ?? null);
  if (ledgerTime === undefined) return yield* untrustworthy("no clock sysvar");
  const { count, head } = decoded.value;
  const paceFrom = nextPaceFrom(mark, slot, yield* Clock.currentTimeMillis);
  const read: CustodyTip = { count, head, slot, ledgerTime, paceFrom };
  return read;
});
