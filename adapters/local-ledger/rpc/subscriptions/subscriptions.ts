import type { Address } from "../../../../core/domain/address.ts";
import { type AccountState, meetsConditions } from "../../runtime/accounts/account-store.ts";
import { encodeJson } from "../../runtime/json-text.ts";
import type { LocalLedger } from "../../runtime/ledger.ts";
import type { Commitment, LandedTransaction } from "../../runtime/time/slots.ts";
import { accountEncodingOf, encodeAccount } from "../encoding/account-encoding.ts";
import { accountFilterOf } from "../methods/account-methods.ts";
import {
  addressOf,
  commitmentOf,
  configOf,
  invalidParams,
  type RpcMethod,
  type RpcParams,
  signatureOf,
} from "../rpc-params.ts";

/** What one subscription sends. */
type Channel = {
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
        const logged = ledger.log.find(signature);
        if (logged === undefined || logged.slot > ledger.slots.visible(commitment))
          return undefined;
        return { context: { slot: logged.slot }, value: { err: logged.error } };
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

type Subscription = Channel & { readonly id: number; readonly send: (text: string) => void };

/** Transactions by their slots, oldest first. */
const bySlot = (
  transactions: ReadonlyArray<LandedTransaction>,
): ReadonlyArray<ReadonlyArray<LandedTransaction>> => [
  ...Map.groupBy(transactions, ({ slot }) => slot).values(),
];

/** The subscriptions of all connections. A timer runs only while a subscriber waits for the end of a slot. */
export const subscriptions = (ledger: LocalLedger) => {
  const open = new Map<number, Subscription>();
  const channels = subscriptionChannels(ledger);
  /** Transactions of the current slot, and those of earlier slots that are not finalized. */
  let landed: Array<LandedTransaction> = [];
  let unfinal: Array<LandedTransaction> = [];
  let nextId = 1;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const notify = (subscription: Subscription, result: unknown): void => {
    const { id, method, once } = subscription;
    if (once) open.delete(id);
    subscription.send(encodeJson({ jsonrpc: "2.0", method, params: { result, subscription: id } }));
  };

  const wantsSlots = (): boolean => {
    for (const subscription of open.values()) if (subscription.onSlot !== undefined) return true;
    return false;
  };

  const watchSlotEnd = (): void => {
    const waits = landed.length > 0 || unfinal.length > 0 || wantsSlots();
    if (timer !== undefined || open.size === 0 || !waits) return;
    const look = (): void => {
      timer = undefined;
      // Reading the slot is what ends the one before it.
      ledger.slots.current();
      watchSlotEnd();
    };
    timer = setTimeout(look, Math.ceil(ledger.clock.msUntilEnd(ledger.slots.current())));
  };

  /** Notifies the subscriptions of a commitment of what has reached it, slot by slot. */
  const reached = (
    commitment: Commitment,
    transactions: ReadonlyArray<LandedTransaction>,
  ): void => {
    for (const ofOneSlot of bySlot(transactions))
      for (const subscription of open.values())
        if (subscription.commitment === commitment)
          for (const result of subscription.onLanded?.(ofOneSlot) ?? [])
            notify(subscription, result);
  };

  const stopListening = ledger.slots.listen({
    landed: (transaction) => {
      // Kept without subscribers too: one that subscribes within this slot is notified at its end.
      landed.push(transaction);
      reached("processed", [transaction]);
      watchSlotEnd();
    },
    slotEnded: (_ended, current) => {
      const ended = landed;
      const finalized = ledger.slots.finalizedAt(current);
      const waiting = [...unfinal, ...ended];
      landed = [];
      unfinal = waiting.filter(({ slot }) => slot > finalized);
      reached("confirmed", ended);
      reached(
        "finalized",
        waiting.filter(({ slot }) => slot <= finalized),
      );
      for (const subscription of open.values())
        if (subscription.onSlot !== undefined) notify(subscription, subscription.onSlot(current));
    },
  });

  return {
    /** The methods of one connection, and the function to call when it closes. */
    connect: (send: (text: string) => void) => {
      const own = new Set<number>();
      const methods = new Map<string, RpcMethod>();
      for (const [name, channel] of Object.entries(channels)) {
        methods.set(`${name}Subscribe`, (params) => {
          const subscription: Subscription = { ...channel(params), id: nextId++, send };
          open.set(subscription.id, subscription);
          own.add(subscription.id);
          // Sent after the answer, so that the caller knows the id before the first notification.
          queueMicrotask(() => {
            const already = subscription.already?.();
            if (already !== undefined && open.has(subscription.id)) notify(subscription, already);
            watchSlotEnd();
          });
          return subscription.id;
        });
        methods.set(`${name}Unsubscribe`, ([id]) => {
          if (typeof id !== "number" || !own.delete(id))
            throw invalidParams("Invalid subscription id.");
          open.delete(id);
          return true;
        });
      }
      return {
        methods,
        close: (): void => {
          for (const id of own) open.delete(id);
        },
      };
    },
    stop: (): void => {
      clearTimeout(timer);
      stopListening();
    },
  };
};
