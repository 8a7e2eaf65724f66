import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import { type Exchange, get, post } from "../exchange.ts";
import {
  all,
  archivedNow,
  clockAt,
  type Condition,
  ledgerDown,
  ledgerSlow,
  storeDown,
} from "../world/conditions.ts";
import {
  accountOf,
  CANCELLATION,
  CANCELLED,
  createPaid,
  PAID,
  PART,
  PARTIAL_RELEASE,
  paymentBody,
  paymentOf,
  type PaymentChange,
  RELEASE,
  RELEASED,
  RELEASED_IN_PART,
  requirements,
} from "../world/payments.ts";
import { OTHER_MINT } from "../world/parties.ts";
import { PRIVATE_KEY } from "./private-key.ts";
import {
  blockhashExpired,
  customError,
  landed,
  simulationFails,
  transactionError,
} from "./relay/relay.ts";
import { queueIsFull, shareIsFull } from "./relay/relay-refused.ts";

type More = Partial<Exchange>;

const verify = (title: string, change: PaymentChange = {}, given?: Condition): Exchange =>
  post(
    "verifyPayment",
    title,
    "/x402/verify",
    paymentBody(change),
    given === undefined ? {} : { given },
  );
const settle = (title: string, change: PaymentChange = {}, more: More = {}): Exchange =>
  post("settlePayment", title, "/x402/settle", paymentBody(change), more);

/** The ledger holds an escrow. */
const holds =
  (escrow: Escrow): Condition =>
  ({ ledger }) =>
    ledger.put(accountOf(escrow));

/** As soon as a transaction is sent, the ledger holds an escrow and the transaction is confirmed. */
const becomes =
  (escrow: Escrow): Condition =>
  (world) => {
    world.ledger.onSend = () => {
      holds(escrow)(world);
      landed("confirmed")(world);
    };
  };

const given = (...conditions: ReadonlyArray<Condition>): More => ({ given: all(...conditions) });

const OTHER_ASSET = { accepted: requirements({ asset: OTHER_MINT }) };
const NO_TRANSACTION = { payload: { create: null } };
const WHOLE = { payload: { type: "capture", transaction: RELEASE } };
const IN_PART = {
  payload: { type: "capture", transaction: PARTIAL_RELEASE },
  asked: requirements({ amount: PART.toString() }),
};
const CANCEL = { payload: { type: "void", transaction: CANCELLATION } };

/** Payments that are refused before the ledger is read. */
const MALFORMED: Readonly<Record<string, PaymentChange>> = {
  "version 1": { version: 1 },
  "a call of a session": { accepted: requirements({ scheme: "delivery-session" }) },
  "another scheme": { accepted: requirements({ scheme: "exact" }) },
  "a private key as the scheme": { accepted: requirements({ scheme: PRIVATE_KEY }) },
  "another network": {
    accepted: requirements({ network: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp" }),
  },
  "a private key as the network": { accepted: requirements({ network: PRIVATE_KEY }) },
  "another custody program": {
    accepted: requirements({}, { custody: LOCAL_DEPLOYMENT.attestorProgram }),
  },
  "a private key as the custody program": {
    accepted: requirements({}, { custody: PRIVATE_KEY }),
  },
  "an amount of 0": { accepted: requirements({ amount: "0" }) },
  "a mint that is not listed": OTHER_ASSET,
  "other requirements than the seller's": { asked: requirements({ amount: PART.toString() }) },
  "an unknown member": { payload: { more: 1 } },
  "an agent that is a private key": { payload: { agent: PRIVATE_KEY } },
  "an escrow that is a private key": { payload: { escrow: PRIVATE_KEY } },
  "another nonce": { payload: { nonce: "1" } },
  "an unknown operation": { payload: { type: "later" } },
  "a refund": { payload: { type: "refund" } },
};

/** Payments that are refused by what the ledger holds, or by their transaction. */
const REFUSED: Readonly<Record<string, readonly [PaymentChange, Condition?]>> = {
  "no transaction, and no escrow": [NO_TRANSACTION],
  "a transaction that is a private key": [{ payload: { create: PRIVATE_KEY } }],
  "a release in the place of the creation": [{ payload: { create: RELEASE } }],
  "the creation of another amount": [
    { payload: { create: createPaid("another amount", { amount: PART }) } },
  ],
  "an escrow on other terms": [{}, holds({ ...PAID, amount: PART })],
  "an escrow that is settled": [{}, holds(RELEASED)],
  "an escrow that is archived": [{}, archivedNow(RELEASED)],
  "an escrow that has expired": [{}, all(holds(PAID), clockAt(PAID.expiresAt))],
  "an expired blockhash": [{ payload: { create: createPaid("expired") } }, blockhashExpired],
  "the custody program refuses it": [
    { payload: { create: createPaid("refused") } },
    simulationFails(customError(6025)),
  ],
  "it fails before any instruction": [
    { payload: { create: createPaid("twice") } },
    simulationFails(transactionError("AccountLoadedTwice")),
  ],
};

const LEDGER: Readonly<Record<string, Condition>> = {
  "the ledger is down": ledgerDown,
  "the ledger is slow": ledgerSlow,
};

/** What is said of payments that settling does not take. */
const refusals = (
  of: (title: string, change: PaymentChange, given?: Condition) => Exchange,
): ReadonlyArray<Exchange> => [
  ...Object.entries(MALFORMED).map(([title, change]) => of(title, change)),
  ...Object.entries(REFUSED).map(([title, [change, condition]]) => of(title, change, condition)),
  ...Object.entries(LEDGER).map(([title, condition]) => of(title, {}, condition)),
];

/** What the facilitator says of kinds and of payments. */
export const verifyExchanges: ReadonlyArray<Exchange> = [
  get("supportedPayments", "the kinds", "/x402/supported"),
  ...Object.entries(LEDGER).map(([title, condition]) =>
    get("supportedPayments", title, "/x402/supported", { given: condition }),
  ),
  verify("a payment that would settle"),
  verify("an escrow that is there", NO_TRANSACTION, holds(PAID)),
  verify("a transaction that has made its escrow", {}, holds(PAID)),
  ...refusals(verify),
  verify("an archived escrow, and the store is down", {}, all(archivedNow(RELEASED), storeDown)),
];

/** What the facilitator answers when it settles. These share a relay, so they are in order. */
export const settleExchanges: ReadonlyArray<Exchange> = [
  settle("before the handler", {}, given(becomes(PAID))),
  settle("before the handler, again", {}, given(holds(PAID), landed("confirmed"))),
  settle("before the handler: the escrow is there", NO_TRANSACTION, given(holds(PAID))),
  settle("after the handler: all of it", WHOLE, given(holds(PAID), becomes(RELEASED))),
  settle("after the handler, again", WHOLE, given(holds(RELEASED), landed("confirmed"))),
  settle("after the handler: a part", IN_PART, given(holds(PAID), becomes(RELEASED_IN_PART))),
  settle("cancelled", CANCEL, given(holds(PAID), becomes(CANCELLED))),
  settle("cancelled, again", CANCEL, given(holds(CANCELLED), landed("confirmed"))),
  settle("after the handler: no escrow", WHOLE),
  settle("after the handler: cancelled before", WHOLE, given(holds(CANCELLED))),
  settle(
    "after the handler: the release of a part, and all of it is asked",
    { payload: { type: "capture", transaction: PARTIAL_RELEASE } },
    given(holds(PAID)),
  ),
  settle("after the handler: no transaction", { payload: { type: "capture" } }, given(holds(PAID))),
  settle(
    "cancelling with a release",
    { payload: { type: "void", transaction: RELEASE } },
    given(holds(PAID)),
  ),
  ...refusals((title, change, condition) =>
    settle(title, change, condition === undefined ? {} : { given: condition }),
  ),
  settle(
    "the store is down",
    { payload: { create: createPaid("store down") } },
    { given: storeDown },
  ),
  settle(
    "not confirmed in time",
    { payload: { create: createPaid("slow") } },
    { waits: { forMs: 1000, passMs: 1000 } },
  ),
  settle(
    "the fee payer's share of the queue is full",
    { payload: { create: createPaid("share full") } },
    { given: shareIsFull },
  ),
  settle("the queue is full", { payload: { create: createPaid("full") } }, { given: queueIsFull }),
];

/** What it answers when the beta's limits are enforced, and the price is beyond them. */
export const x402BetaExchanges: ReadonlyArray<Exchange> = [verify, settle].map((of) =>
  of("beta limits: an amount beyond them", paymentOf(100_000_001n)),
);
