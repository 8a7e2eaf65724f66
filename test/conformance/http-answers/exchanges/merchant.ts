import { type Exchange, get } from "../exchange.ts";
import { ledgerDown, ledgerSlow, storeDown } from "../world/conditions.ts";
import { PENDING } from "../world/escrows.ts";
import { AGENT_TOKENS, BROKEN_ESCROW, BROKEN_MERCHANT } from "../world/ledger-accounts.ts";
import { ATTESTOR, IDLE, MERCHANT, SUSPENDED, UNREGISTERED } from "../world/parties.ts";
import { PRIVATE_KEY } from "./private-key.ts";

const read = (title: string, address: string, given?: Exchange["given"]) =>
  get("readMerchant", title, `/v1/merchants/${address}`, given === undefined ? {} : { given });
const list = (title: string, query: string, more: Partial<Exchange> = {}) =>
  get("queryMerchants", title, `/v1/registry/merchants${query}`, more);

/** What the operations on merchants answer. */
export const merchantExchanges: ReadonlyArray<Exchange> = [
  read("Active, by its wallet", MERCHANT.wallet),
  read("Active, by its merchant account", MERCHANT.address),
  read("Active, named by no escrow", IDLE.wallet),
  read("Suspended", SUSPENDED.wallet),
  read("an invalid address", "O0Il"),
  read("a private key in the place of the address", PRIVATE_KEY),
  read("invalid percent-encoding", "%ff"),
  read("no account", UNREGISTERED),
  read("an escrow", PENDING.address),
  read("a token account", AGENT_TOKENS.address),
  read("a broken escrow", BROKEN_ESCROW.address),
  read("a broken merchant", BROKEN_MERCHANT.address),
  read("the store is down", MERCHANT.wallet, storeDown),
  read("the ledger is down", MERCHANT.wallet, ledgerDown),
  read("the ledger is slow", MERCHANT.wallet, ledgerSlow),

  list("all", ""),
  list("the first page of one", "?limit=1"),
  list("the second page of one", "?limit=1&cursor={next_cursor}"),
  list("the last page of one", "?limit=1&cursor={next_cursor}"),
  list("Active", "?status=Active"),
  list("Suspended", "?status=Suspended"),
  list("by a part of the name, in any case", "?q=SKYLINE"),
  list("by a part of the name that is not ASCII", "?q=s%C3%B6hne"),
  list("by the same part, with its accent as a character of its own", "?q=so%CC%88hne"),
  list("by a wallet", `?q=${IDLE.wallet}`),
  list("by the attestor", `?q=${ATTESTOR.address}`),
  list("by reputation", "?min_reputation=2"),
  list("by everything at once", "?status=Active&q=forecast&min_reputation=1"),
  list("nothing is found", "?q=nothing"),
  list("an unknown status", "?status=active"),
  list("an empty text", "?q="),
  list("a text that is too long", `?q=${"x".repeat(101)}`),
  list("a reputation below 0", "?min_reputation=-1"),
  list("a reputation of 2^32", "?min_reputation=4294967296"),
  list("a limit of 0", "?limit=0"),
  list("a limit of 501", "?limit=501"),
  list("a limit that is not a number", "?limit=ten"),
  list("an invalid cursor", "?cursor=AAAA"),
  list("an empty cursor", "?cursor="),
  list("a cursor that is too long", `?cursor=${"A".repeat(201)}`),
  list("the store is down", "", { given: storeDown }),
];
