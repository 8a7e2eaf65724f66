import { RELAY_POLICY } from "../../../../../core/domain/relay/relay-policy.ts";
import { type Exchange, get } from "../../exchange.ts";
import { ledgerDown, ledgerSlow, storeDown, ledgerHangs } from "../../world/conditions.ts";
import { FULFILLED } from "../../world/escrows.ts";
import type { World } from "../../world/fixed-world.ts";
import { historyOf } from "../../world/history.ts";
import { registration } from "../../world/transactions.ts";
import {
  customError,
  landed,
  outcome,
  relay,
  simulationFails,
  transactionError,
  blockhashExpired,
} from "./relay.ts";

const SETTLEMENT = `/v1/relay/${historyOf(FULFILLED, 0n).at(-1)?.signature}`;

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

const first = registration("first");
const failing = registration("failing");
const unknown = registration("sent by nobody");

/** What the relay answers to transactions that it accepts, and to questions about their outcome. */
export const acceptedExchanges: ReadonlyArray<Exchange> = [
  get("readRelayPolicy", "the policy", "/v1/relay"),
  relay("accepted", first, { members: { encoding: "base64" } }),
  outcome("pending", first),
  relay("the same again while it is pending", first),
  relay("the same again when its block is processed", first, { given: landed("processed") }),
  outcome("processed", first, landed("processed")),
  relay("the same again when it is confirmed", first, { given: landed("confirmed") }),
  outcome("confirmed", first, landed("confirmed")),
  relay("the same again when it is finalized", first, { given: landed("finalized") }),
  outcome("finalized", first, landed("finalized")),
  outcome("the ledger is down, and the relay knows the transaction", first, ledgerDown),
  relay("confirmed in time", registration("confirmed in time"), {
    members: { confirm: true },
    given: landed("confirmed"),
  }),
  relay("not confirmed in time", registration("not confirmed in time"), {
    members: { confirm: true },
    waits: { forMs: 1000, passMs: 1000 },
  }),
  relay("without a simulation", registration("no simulation"), {
    members: { skip_preflight: true },
  }),
  relay("the simulation says that it has landed already", registration("landed already"), {
    given: simulationFails(transactionError("AlreadyProcessed")),
  }),
  relay("accepted, before it fails on the ledger", failing),
  relay("failed, confirmed", failing, { given: landed("confirmed", customError(6024)) }),
  outcome("failed, confirmed", failing, landed("confirmed", customError(6024))),
  relay("failed, finalized", failing, { given: landed("finalized", customError(6024)) }),
  outcome("failed, finalized", failing, landed("finalized", customError(6024))),
  outcome("failed with an error of another program", failing, landed("finalized", customError(1))),
  outcome(
    "failed before any instruction",
    failing,
    landed("finalized", transactionError("InsufficientFundsForRent")),
  ),
  outcome("a transaction that this relay did not send", unknown, landed("finalized")),
  get("readRelayOutcome", "the settlement of an escrow, sent by others", SETTLEMENT, {
    given: landed("finalized"),
  }),
  outcome("an unknown transaction", unknown),
  outcome("the ledger is down", unknown, ledgerDown),
  outcome("the ledger is slow", unknown, ledgerSlow),
  outcome("the store is down", first, storeDown),
  ...[
    ["an invalid signature", "O0Il"],
    ["a signature that is too short", "1".repeat(63)],
    ["invalid percent-encoding", "%ff"],
  ].map(([title = "", text]) => get("readRelayOutcome", title, `/v1/relay/${text}`)),
];

const expiring = registration("expiring");

/** The ledger passes the transaction's last valid block, and the relay looks for the transaction. */
const expire = async ({ ledger, pass }: World): Promise<void> => {
  ledger.slot += 215n;
  // The node keeps all history, so the fee payer's young list is whole.
  ledger.keptFrom = 0n;
  await pass(RELAY_POLICY.rebroadcastMs);
};

/** What the relay answers about a transaction that has expired. */
export const expiredExchanges: ReadonlyArray<Exchange> = [
  relay("accepted, before it expires", expiring),
  outcome("expired", expiring, expire),
  relay("the same again when it has expired", expiring),
];
