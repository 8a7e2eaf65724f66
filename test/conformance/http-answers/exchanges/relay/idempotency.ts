import type { Exchange } from "../../exchange.ts";
import { ledgerHangs, storeDown } from "../../world/conditions.ts";
import type { World } from "../../world/fixed-world.ts";
import { registration } from "../../world/transactions.ts";
import { blockhashExpired, landed, relay } from "./relay.ts";

/** The client of these requests. Keys of different clients are separate. */
const CLIENT = "10.2.0.1";

const keyed = (
  title: string,
  key: string,
  transaction: string,
  more: Parameters<typeof relay>[2] = {},
) =>
  relay(`Idempotency-Key: ${title}`, transaction, {
    client: CLIENT,
    headers: { "idempotency-key": key },
    ...more,
  });

const ordered = registration("order 1");
const refused = registration("order 2");
const slow = registration("order 3");

/** Sends the same request before, while the ledger does not answer. */
const isUnderWay = async (world: World): Promise<void> => {
  ledgerHangs(world);
  const { reads } = world.ledger;
  const { path, headers, body } = keyed("", "order-3", slow);
  const request = new Request(`http://localhost${path}`, {
    method: "POST",
    headers,
    body: body ?? null,
  });
  void world.app.handle(request, { address: CLIENT, allowSeconds: () => undefined });
  await world.until("the first request", () => world.ledger.reads > reads);
};

/** What the relay answers to requests with an Idempotency-Key. */
export const idempotencyExchanges: ReadonlyArray<Exchange> = [
  keyed("the first request", "order-1", ordered),
  keyed("the same request after the transaction has landed", "order-1", ordered, {
    given: landed("finalized"),
  }),
  keyed("another transaction", "order-1", registration("order 1, another")),
  keyed("another member of the body", "order-1", ordered, { members: { confirm: true } }),
  keyed("the same key of another client", "order-1", ordered, { client: "10.2.0.2" }),
  keyed("a request that is refused", "order-2", refused, { given: blockhashExpired }),
  keyed("the refused request, once it is valid", "order-2", refused),
  keyed("the same request while the first one runs", "order-3", slow, { given: isUnderWay }),
  keyed("the store is down", "order-4", registration("order 4"), { given: storeDown }),
  keyed("a key with a space", "a b", ordered),
  keyed("a key that is not ASCII", "\u00e4", ordered),
  keyed("a key that is too long", "x".repeat(256), ordered),
];
