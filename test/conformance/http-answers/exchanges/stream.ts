import { type Exchange, get } from "../exchange.ts";
import { storeDown } from "../world/conditions.ts";
import type { World } from "../world/fixed-world.ts";
import { AGENT, MERCHANT, OTHER_AGENT } from "../world/parties.ts";

const PATH = "/v1/indexer/events/stream";
/** A client with as many open streams as one client may have. */
const BUSY = "10.1.0.1";
const MOST_OF_A_CLIENT = 16;

const stream = (title: string, query: string, more: Partial<Exchange> = {}) =>
  get("streamEvents", title, `${PATH}${query}`, more);
const EVENTS = { chunks: 2 };

/** Opens as many streams as one client may have. They stay open until the scene ends. */
const openMany = async ({ app }: World): Promise<void> => {
  for (let n = 0; n < MOST_OF_A_CLIENT; n++) {
    const connection = { address: BUSY, allowSeconds: () => undefined };
    const response = await app.handle(new Request(`http://localhost${PATH}`), connection);
    await response.body?.getReader().read();
  }
};

/** What the stream of events answers. */
export const streamExchanges: ReadonlyArray<Exchange> = [
  stream("everything", "?after=0", EVENTS),
  stream("after a position", "?after=9", EVENTS),
  stream("after the last id, which wins over the query", "?after=0", {
    headers: { "last-event-id": "10" },
    ...EVENTS,
  }),
  stream("from now on", "", { chunks: 1 }),
  stream("from now on: fifteen quiet seconds", "", {
    chunks: 2,
    waits: { forMs: 20, passMs: 15_000 },
  }),
  stream(
    "of a merchant, an agent and a state",
    `?after=0&merchant=${MERCHANT.wallet}&agent_owner=${AGENT.address}&state=Refunded`,
    EVENTS,
  ),
  stream("of another agent", `?after=0&agent_owner=${OTHER_AGENT.address}`, EVENTS),
  stream("with Accept: text/event-stream", "?after=10", {
    headers: { accept: "text/event-stream" },
    ...EVENTS,
  }),
  stream("a position beyond the newest event", "?after=1000"),
  stream("a last id beyond the newest event", "", { headers: { "last-event-id": "1000" } }),
  stream("an invalid last id", "", { headers: { "last-event-id": "1e3" } }),
  stream("an invalid position", "?after=-1"),
  stream("a position with a leading zero", "?after=01"),
  stream("everything, and what is confirmed", "?after=0&commitment=confirmed", EVENTS),
  stream("an unknown commitment", "?commitment=processed"),
  stream("an invalid merchant address", "?merchant=O0Il"),
  stream("an unknown state", "?state=Open"),
  stream("a limit", "?limit=5"),
  stream("with Accept: application/json", "?after=0", { headers: { accept: "application/json" } }),
  stream("the store is down", "?after=0", { given: storeDown }),
  stream("one stream more than a client may have", "", { given: openMany, client: BUSY }),
];
