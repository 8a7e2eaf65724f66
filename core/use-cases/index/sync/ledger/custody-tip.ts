import { Clock, Duration, Effect, Schedule, Stream } from "effect";
import { SlotBeyondReach } from "../../../../../ports/index/index-news.ts";
import { Instance } from "../../../../../ports/instance.ts";
import { Ledger, type ScanOptions } from "../../../../../ports/ledger/ledger.ts";
import { type Address, parseAddress } from "../../../../domain/address.ts";
import {
  highestPlausibleSlot,
  nextPaceFrom,
  type SyncMark,
} from "../../../../domain/index/sync-report.ts";
import type { AccountKind } from "../../../../domain/ledger/account.ts";
import { networkLeaf } from "../../../../log/leaf/event-leaf.ts";
import { noEvents } from "../../../../log/tree/frontier.ts";
import { ARCHIVED_ESCROW_LENGTH } from "../../../../protocol/accounts/archived-escrow-account.ts";
import { decodeCustodyConfigAccount } from "../../../../protocol/accounts/settings-accounts.ts";
import { decodeClockSysvar } from "../../../../protocol/accounts/sysvars.ts";
import { custodyConfigAddress } from "../../../../protocol/addresses/addresses.ts";
import { CLOCK_SYSVAR } from "../../../../protocol/addresses/well-known-addresses.ts";
import { refuseOlder, untrustworthy } from "../../../or-ask-another.ts";
import type { IndexAccounts, ReadRows } from "../index-accounts.ts";

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

/** What the ledger's custody program had numbered at a slot, and the ledger's clock there. */
export type CustodyTip = Omit<SyncMark, "atMs">;

/** The most slots by which one backend of a node is behind another. A tip further behind the mark is not waited for. */
const BACKEND_LAG = 64n;

/** The JSON-RPC methods whose answers name a slot here. */
type Method = "getEpochInfo" | "getMultipleAccounts";

/** The ledger's log before its first event. Fails like the ledger. */
export const ledgerBeginning = Effect.gen(function* () {
  const { deployment } = yield* Instance;
  const hash = yield* Ledger.use(({ genesisHash }) => genesisHash);
  const genesisHash = parseAddress(hash) ?? (yield* untrustworthy(`${hash} is no genesis hash`));
  return noEvents(networkLeaf(genesisHash, deployment.custodyProgram));
});

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
 * Refuses a slot that the ledger cannot have reached. A mark of an invented slot would keep every honest answer out
 * until the ledger gets there. The service's own ledger invents none, and its user may let it skip days.
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
 * The finalized events of the custody program, with the ledger's clock of the same slot: one not below the
 * ledger's tip at the call, nor below that of `mark`. Fails like the ledger, and with `SlotBeyondReach`.
 */
export const readCustodyTip = Effect.fn("readCustodyTip")(function* (mark: SyncMark | null) {
  const ledger = yield* Ledger;
  // Another node may have taken over an address since the last sync.
  yield* ledger.confirmIdentity;
  const tip = yield* ledger.tip("finalized");
  yield* refuseFarBehind(tip.slot, mark);
  yield* refuseImplausible(tip.slot, mark, "getEpochInfo");
  // A backend that lags may show the tip. The accounts are as new as the mark, or waited for.
  const from = mark === null || tip.slot > mark.slot ? tip.slot : mark.slot;
  return (yield* readTipAlong(mark, from, [])).tip;
});

/**
 * The finalized events of the custody program and the ledger's clock at slot `from` or a later one, with other accounts
 * of the same slot, at most 98, in the order asked for. Fails like the ledger, and with `SlotBeyondReach`.
 */
export const readTipAlong = Effect.fnUntraced(function* (
  mark: SyncMark | null,
  from: bigint,
  addresses: ReadonlyArray<Address>,
) {
  const { deployment } = yield* Instance;
  const { address } = custodyConfigAddress(deployment);
  const { slot, value } = yield* readAccountsSince([address, CLOCK_SYSVAR, ...addresses], from);
  yield* refuseImplausible(slot, mark, "getMultipleAccounts");
  const [config, clock, ...others] = value;
  if (config === null || config === undefined)
    return yield* untrustworthy(`no custody config at ${address}`);
  const decoded = decodeCustodyConfigAccount(config, deployment);
  if ("fault" in decoded)
    return yield* untrustworthy(`the custody config at ${address}: ${decoded.fault}`);
  const ledgerTime = decodeClockSysvar(clock ?? null);
  if (ledgerTime === undefined) return yield* untrustworthy("no clock sysvar");
  const { count, frontier } = decoded.value;
  const paceFrom = nextPaceFrom(mark, slot, yield* Clock.currentTimeMillis);
  const tip: CustodyTip = { count, frontier, slot, ledgerTime, paceFrom };
  return { tip, others };
});

/**
 * Shows `use` the valid rows of all accounts of these kinds, in chunks as the ledger gives them. An answer of a slot
 * below `since` is refused. Fails like the ledger or like `use`.
 */
export const scanAccounts = Effect.fn("scanAccounts")(function* <E, R>(
  accounts: IndexAccounts,
  kinds: ReadonlyArray<AccountKind>,
  since: bigint,
  use: (rows: ReadRows) => Effect.Effect<void, E, R>,
  options: ScanOptions = {},
) {
  const ledger = yield* Ledger;
  let newest = since;
  for (const kind of kinds) {
    // Tombstones are scanned last and at no earlier slot, so an escrow archived during the scan appears in one of the
    // two.
    const floor = kind.length === ARCHIVED_ESCROW_LENGTH ? newest : since;
    const scan = ledger.programAccounts(kind, { ...options, notBefore: floor });
    yield* Stream.runForEach(scan, ({ slot, value }) =>
      Effect.gen(function* () {
        yield* refuseOlder(slot, floor);
        newest = slot > newest ? slot : newest;
        yield* use(accounts.decode(slot, value, kind.program));
      }),
    );
  }
});
