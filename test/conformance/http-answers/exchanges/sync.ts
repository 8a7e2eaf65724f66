import { encodeEscrowAccount } from "../../../../core/protocol/accounts/escrow-account.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { type Exchange, get } from "../exchange.ts";
import { ledgerDown, ledgerSlow, storeDefect, storeDown } from "../world/conditions.ts";
import { EXPIRED, NEXT_SEQ } from "../world/escrows.ts";
import type { World } from "../world/fixed-world.ts";
import { historyOf } from "../world/history.ts";
import { accountOf } from "../../../doubles/accounts.ts";

const sync = (title: string, given?: Exchange["given"]) =>
  get("syncIndex", title, "/v1/indexer/sync", {
    method: "POST",
    ...(given === undefined ? {} : { given }),
  });
const withSnapshot = (title: string, snapshot: string, given?: Exchange["given"]) =>
  get("syncIndex", title, `/v1/indexer/sync?snapshot=${snapshot}`, {
    method: "POST",
    ...(given === undefined ? {} : { given }),
  });
const status = (title: string) => get("readStatus", title, "/v1/status");
const settled = {
  ...EXPIRED,
  state: "Refunded",
  settledAt: EXPIRED.expiresAt + 60n,
  settledBy: "refund",
  settledSeq: NEXT_SEQ,
} as const;

/** The ledger has its whole history and is one slot ahead, without a new transaction. */
const quietSlot = ({ ledger }: World): void => {
  ledger.keptFrom = 0n;
  ledger.slot += 1n;
};

/** The expired escrow is refunded in the next slot. */
const refund = (world: World): void => {
  quietSlot(world);
  const { ledger } = world;
  for (const one of historyOf(settled, ledger.slot).slice(1))
    ledger.record({ ...one, slot: ledger.slot });
  ledger.put(
    accountOf(settled.address, LOCAL_DEPLOYMENT.custodyProgram, encodeEscrowAccount(settled)),
  );
};

/** The node answers from a slot before the last sync. */
const stale = ({ ledger }: World): void => {
  ledger.slot = 1n;
};

/** What syncs answer, beginning with an empty index, and the status after some of them. */
export const syncExchanges: ReadonlyArray<Exchange> = [
  sync("the ledger is down", ledgerDown),
  status("after a sync while the ledger is down"),
  sync("the ledger is slow", ledgerSlow),
  sync("the store is down", storeDown),
  status("after a sync while the store is down"),
  sync("a bug in the store", storeDefect),
  status("after a sync that ended by a bug"),
  sync("the first sync: a snapshot, with rejected accounts"),
  status("after the first sync"),
  sync("a snapshot without changes"),
  sync("by history, without changes", quietSlot),
  withSnapshot("a snapshot, less than a minute after the last one", "true", quietSlot),
  sync("by history, with a refund", refund),
  sync("a node that is behind the index", stale),
  status("after a sync with a node that is behind"),
  get("queryEvents", "the newest, after a sync with a refund", "/v1/indexer/events?limit=1"),
  get("syncIndex", "a content-length that is too long", "/v1/indexer/sync", {
    method: "POST",
    headers: { "content-length": "262145" },
  }),
  withSnapshot("a snapshot that is neither asked for nor not", "maybe"),
];
