import { type Address, addressFromBytes } from "../../../../../core/domain/address.ts";
import { ledgerSignatureFromBytes } from "../../../../../core/domain/ledger/signature.ts";
import { RELAY_POLICY } from "../../../../../core/domain/relay/relay-policy.ts";
import { fieldWriter } from "../../../../../core/protocol/accounts/byte-fields.ts";
import { type Exchange, get } from "../../exchange.ts";
import { all, ledgerDown, ledgerSlow, storeDefect, storeDown } from "../../world/conditions.ts";
import type { World } from "../../world/fixed-world.ts";
import { fundedWallet } from "../../world/ledger-accounts.ts";
import { AGENT, OTHER_MINT, RELAYER } from "../../world/parties.ts";
import { create } from "../../world/settlements.ts";
import { registration, relayed } from "../../world/transactions.ts";
import {
  blockhashExpired,
  customError,
  landed,
  relay,
  simulationFails,
  transactionError,
} from "./relay.ts";

/** Sets the lamports of the fee payer; with 0 it has no account. */
const payerHas =
  (lamports: bigint) =>
  ({ ledger }: World): void => {
    if (lamports === 0n) ledger.vanish(RELAYER.address);
    else ledger.put(fundedWallet(RELAYER.address, lamports));
  };

const refused = (
  title: string,
  given: (world: World) => void,
  more: Partial<Exchange> = {},
): Exchange => relay(title, registration(title), { given, ...more });

const runtimeError = {
  ...customError(0),
  instructionError: "InvalidAccountData",
  customCode: null,
};
/** The same client for two requests: the second shows the cost of the first. */
const CHARGED = { client: "10.3.0.1" };

/** What the relay answers to admissible transactions that would fail or that it cannot check. */
export const refusedExchanges: ReadonlyArray<Exchange> = [
  refused("an expired blockhash", blockhashExpired),
  refused("a fee payer with too few lamports", payerHas(4999n)),
  refused("a fee payer without an account", payerHas(0n)),
  refused(
    "the simulation fails with an error of the custody program",
    simulationFails(customError(6025)),
  ),
  refused("the simulation fails with an error of another program", simulationFails(customError(1))),
  refused("the simulation fails with a builtin instruction error", simulationFails(runtimeError)),
  refused(
    "the simulation fails before any instruction",
    simulationFails(transactionError("AccountLoadedTwice")),
  ),
  refused(
    "the simulation does not know the blockhash",
    simulationFails(transactionError("BlockhashNotFound")),
  ),
  refused(
    "the blockhash is expired, and the transaction has landed",
    all(blockhashExpired, landed("finalized")),
  ),
  refused("the ledger is down", ledgerDown),
  refused("the ledger is slow", ledgerSlow),
  refused("the store is down", storeDown),
  refused("a bug in the store", storeDefect),
  refused("rate limit: a transaction that would fail", simulationFails(customError(6025)), CHARGED),
  relay(
    "rate limit: the next transaction of the same client",
    registration("next of the same client"),
    CHARGED,
  ),
];

/** What is answered with rate limits of one request, for a client and for a fee payer. */
export const lastOfBudgetExchanges: ReadonlyArray<Exchange> = [
  get("readVersion", "rate limit: the last request", "/v1"),
  relay("rate limit: the last transaction of the fee payer", registration("last of the payer")),
  relay("rate limit: another client with the same fee payer", registration("one too many")),
];

/** Another fee payer for each number. */
const payer = (n: number): Address => addressFromBytes(fieldWriter(32).u32(n).skip(28).done());

/** Adds pending transactions of these fee payers to the relay's queue. */
const areUnderWay =
  (count: number, feePayerOf: (n: number) => Address) =>
  async ({ delivery, run }: World): Promise<void> => {
    for (let n = 1; n <= count; n++)
      await run(
        delivery.follow({
          signature: ledgerSignatureFromBytes(fieldWriter(64).u32(n).skip(60).done()),
          transaction: new Uint8Array(),
          feePayer: feePayerOf(n),
          lastValidBlockHeight: 2000n,
          openedAtSlot: 1000n,
          openedAtMs: 0,
          outcome: null,
        }),
      );
  };

/** The relayer's share of the relay's queue is full, from this exchange on. */
export const shareIsFull = areUnderWay(RELAY_POLICY.queueShareOfFeePayer, () => RELAYER.address);

/** The relay's queue is full, from this exchange on. */
export const queueIsFull = areUnderWay(RELAY_POLICY.queueCapacity, payer);

/** What the relay answers when its queue is full: first for the fee payer, then for everyone. */
export const fullExchanges: ReadonlyArray<Exchange> = [
  relay("the fee payer's share of the queue is full", registration("full of the payer's"), {
    given: shareIsFull,
  }),
  relay("the queue is full", registration("full"), { given: queueIsFull }),
];

const creation = (title: string, terms: Parameters<typeof create>[0]): Exchange =>
  relay(title, relayed(title, [create(terms)], AGENT));

/** What the relay answers when the beta's limits are enforced. */
export const relayBetaExchanges: ReadonlyArray<Exchange> = [
  get("readRelayPolicy", "beta limits", "/v1/relay"),
  creation("beta limits: within all of them", { amount: 100_000_000n, ttlSeconds: 86_400 }),
  creation("beta limits: beyond each of them", {
    amount: 100_000_001n,
    ttlSeconds: 86_401,
    mint: OTHER_MINT,
  }),
  creation("beta limits: beyond one of them", { amount: 100_000_001n }),
];
