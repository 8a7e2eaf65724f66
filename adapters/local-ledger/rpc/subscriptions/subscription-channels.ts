import type { Address } from "../../../../core/domain/address.ts";
import type { AccountState } from "../../runtime/accounts/account-state.ts";
import { meetsConditions } from "../../runtime/accounts/data-conditions.ts";
import type { LocalLedger } from "../../runtime/ledger.ts";
import type { Commitment, LandedTransaction } from "../../runtime/time/slots.ts";
import { accountEncodingOf, encodeAccount } from "../encoding/account-encoding.ts";
import { accountFilterOf } from "../account-filter.ts";
import { invalidParams } from "../rpc-error.ts";
import { addressOf, commitmentOf, configOf, type RpcParams, signatureOf } from "../rpc-params.ts";

/** What one subscription sends. */
export type Channel = {
  /** The method name of its notifications. */
  readonly method: string;
  readonly commitment: Commitment;
  /** Whether it ends after its first notification. */
  readonly once?: boolean;
  /** Notifications for landed transactions: one at a time at `processed`, otherwise all of a slot together. */
  readonly onLanded?: (transactions: ReadonlyArray<LandedTransaction>) => ReadonlyArray<unknown>;
  /** The notification for a new slot. */
  readonly onSlot?: (slot: number) => unknown;
  /** A notification that was due before the subscription began. */
  readonly already?: () => unknown;
};

const GONE: AccountState = {
  lamports: 0n,
  owner: addressOf("11111111111111111111111111111111"),
  data: new Uint8Array(),
  executable: false,
  rentEpoch: 0n,
};

const slotOf = (transactions: ReadonlyArray<LandedTransaction>) => ({
  slot: transactions[0]?.slot ?? 0,
});

/** The last state of each account that these transactions changed. */
const lastStates = (
  transactions: ReadonlyArray<LandedTransaction>,
): ReadonlyMap<Address, AccountState | undefined> =>
  new Map(transactions.flatMap(({ changed }) => [...changed]));

/** `mentions` of a logsSubscribe; undefined for all transactions. @throws RpcError for another filter. */
const mentionOf = (filter: unknown): Address | undefined => {
  if (filter === "all" || filter === "allWithVotes") return undefined;
  const { mentions } = configOf(filter, "filter");
  if (!Array.isArray(mentions) || mentions.length !== 1)
    throw invalidParams("Invalid Request: Only 1 address supported");
  return addressOf(mentions[0]);
};

/** For each kind of subscription, by its name before `Subscribe`: the channel that its parameters ask for. */
export const subscriptionChannels = (
  ledger: LocalLedger,
): Readonly<Record<string, (params: RpcParams) => Channel>> => ({
  account: ([key, options]) => {
    const config = configOf(options);
    const encoding = accountEncodingOf(ledger, config);
    const address = addressOf(key);
    return {
      method: "accountNotification",
      commitment: commitmentOf(config),
      onLanded: (transactions) => {
        const states = lastStates(transactions);
        if (!states.has(address)) return [];
        const value = encodeAccount(states.get(address) ?? GONE, encoding);
        return [{ context: slotOf(transactions), value }];
      },
    };
  },

  program: ([key, options]) => {
    const config = configOf(options);
    const encoding = accountEncodingOf(ledger, config);
    const conditions = accountFilterOf(config["filters"]);
    const program = addressOf(key);
    return {
      method: "programNotification",
      commitment: commitmentOf(config),
      onLanded: (transactions) =>
        [...lastStates(transactions)].flatMap(([pubkey, state]) =>
          state?.owner === program && meetsConditions(state.data, conditions)
            ? [
                {
                  context: slotOf(transactions),
                  value: { pubkey, account: encodeAccount(state, encoding) },
                },
              ]
            : [],
        ),
    };
  },

  signature: ([name, options]) => {
    const signature = signatureOf(name);
    const commitment = commitmentOf(configOf(options));
    return {
      method: "signatureNotification",
      commitment,
      once: true,
      onLanded: (transactions) =>
        transactions
          .filter((transaction) => transaction.signature === signature)
          .map(({ slot, error }) => ({ context: { slot }, value: { err: error } })),
      already: () => {
        const found = ledger.log.find(signature);
        if (found === undefined || found.slot > ledger.slots.visible(commitment)) return undefined;
        return { context: { slot: found.slot }, value: { err: found.error } };
      },
    };
  },

  logs: ([filter, options]) => {
    const mention = mentionOf(filter);
    return {
      method: "logsNotification",
      commitment: commitmentOf(configOf(options)),
      onLanded: (transactions) =>
        transactions
          .filter(({ accounts }) => mention === undefined || accounts.includes(mention))
          .map(({ slot, signature, error, logs }) => ({
            context: { slot },
            value: { signature, err: error, logs },
          })),
    };
  },

  slot: () => ({
    method: "slotNotification",
    commitment: "processed",
    onSlot: (slot) => ({ slot, parent: slot - 1, root: ledger.slots.finalizedAt(slot) }),
  }),
});
