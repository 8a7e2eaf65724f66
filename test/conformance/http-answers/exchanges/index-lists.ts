import { type Exchange, get } from "../exchange.ts";
import { storeDefect, storeDown } from "../world/conditions.ts";
import { FULFILLED } from "../world/escrows.ts";
import { AGENT, MERCHANT, OTHER_AGENT, STRANGER, SUSPENDED } from "../world/parties.ts";

/** Both lists of the index take the same filters and pages. */
const listOf = (operation: string, path: string): ReadonlyArray<Exchange> => {
  const list = (title: string, query = "", more: Partial<Exchange> = {}) =>
    get(operation, title, `${path}${query}`, more);
  return [
    list("all"),
    list("the first page of three", "?limit=3"),
    list("a cursor with padding", "?limit=3&cursor={next_cursor}="),
    list("a cursor with a letter more", "?limit=3&cursor={next_cursor}A"),
    list("the second page of three", "?limit=3&cursor={next_cursor}"),
    list("the third page of three", "?limit=3&cursor={next_cursor}"),
    list("the largest page", "?limit=500"),
    list("an empty query", "?"),
    list("of a merchant", `?merchant=${SUSPENDED.wallet}`),
    list("of an agent", `?agent_owner=${OTHER_AGENT.address}`),
    list("Pending", "?state=Pending"),
    list("Fulfilled", "?state=Fulfilled"),
    list("PartiallyFulfilled", "?state=PartiallyFulfilled"),
    list("Refunded", "?state=Refunded"),
    list("refundable", "?refundable=true"),
    list(
      "every filter at once",
      `?merchant=${MERCHANT.wallet}&agent_owner=${AGENT.address}&state=Pending&refundable=true&limit=1`,
    ),
    list("nothing is found", `?merchant=${STRANGER.address}`),
    list("an invalid merchant address", "?merchant=O0Il"),
    list("an invalid merchant and an invalid agent", "?merchant=x&agent_owner=y"),
    list("an address that is too long", `?merchant=${"1".repeat(65)}`),
    list("an unknown state", "?state=pending"),
    list("refundable=false", "?refundable=false"),
    list("a limit of 0", "?limit=0"),
    list("a limit of 501", "?limit=501"),
    list("a limit with a fraction", "?limit=1.5"),
    list("a limit with a leading zero", "?limit=01"),
    list("an empty limit", "?limit="),
    list("a misspelt filter", "?stat=Pending"),
    list("a name that every object has", "?__proto__=1"),
    list("an invalid cursor", "?cursor=AAAA"),
    list("an empty cursor", "?cursor="),
    list("a cursor that is too long", `?cursor=${"A".repeat(201)}`),
    list("the store is down", "?limit=2", { given: storeDown }),
    list("a bug in the store", "?limit=2", { given: storeDefect }),
  ];
};

/** What the lists of the index answer. */
export const indexListExchanges: ReadonlyArray<Exchange> = [
  ...listOf("queryEscrows", "/v1/indexer"),
  ...listOf("queryEvents", "/v1/indexer/events"),
  get("queryEscrows", "expiring within a week", "/v1/indexer?expiring_within=604800&limit=2"),
  get("queryEscrows", "expiring within more than a week", "/v1/indexer?expiring_within=604801"),
  get("queryEvents", "of one escrow", `/v1/indexer/events?escrow=${FULFILLED.address}`),
  get("queryEvents", "of an invalid escrow", "/v1/indexer/events?escrow=O0Il"),
  ...[
    ["an escrow", FULFILLED.address],
    ["a wallet", AGENT.address],
    ["a merchant", MERCHANT.wallet],
    ["an address of nothing", STRANGER.address],
    ["a task hash", FULFILLED.taskHash.toUpperCase()],
    ["a transaction", "2".repeat(88)],
    ["a name", "e"],
    ["a log position", "1"],
    ["blanks", "%20"],
  ].map(([title = "", asked]) => get("search", title, `/v1/search?q=${asked}`)),
  get("search", "without a query", "/v1/search"),
  get("search", "the store is down", "/v1/search?q=e", { given: storeDown }),
  get("queryDays", "the days", "/v1/indexer/days"),
  get("queryDays", "no day", "/v1/indexer/days?days=0"),
  get("queryDays", "the store is down", "/v1/indexer/days", { given: storeDown }),
  get("queryEscrows", "a page of one", "/v1/indexer?limit=1"),
  get("queryEvents", "a cursor of the escrows", "/v1/indexer/events?cursor={next_cursor}"),
  get("queryMerchants", "a cursor of the escrows", "/v1/registry/merchants?cursor={next_cursor}"),
  get("queryEvents", "a page of one", "/v1/indexer/events?limit=1"),
  get("queryEscrows", "a cursor of the events", "/v1/indexer?cursor={next_cursor}"),
];

/** What is answered before the first sync. */
export const unsyncedExchanges: ReadonlyArray<Exchange> = [
  get("queryEscrows", "before the first sync", "/v1/indexer"),
  get("queryEvents", "before the first sync", "/v1/indexer/events"),
  get("queryMerchants", "before the first sync", "/v1/registry/merchants"),
  get("search", "before the first sync", "/v1/search?q=e"),
  get("queryDays", "before the first sync", "/v1/indexer/days"),
  get("streamEvents", "before the first sync", "/v1/indexer/events/stream?after=0", { chunks: 1 }),
  get("streamEvents", "before the first sync: a position", "/v1/indexer/events/stream?after=1"),
  get("readReadiness", "before the first sync", "/ready"),
  get("readStatus", "before the first sync", "/v1/status"),
];
