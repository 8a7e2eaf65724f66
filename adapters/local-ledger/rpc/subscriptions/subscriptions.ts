import { encodeJson } from "../../runtime/json-text.ts";
import type { LocalLedger } from "../../runtime/ledger.ts";
import type { Commitment, LandedTransaction } from "../../runtime/time/slots.ts";
import { invalidParams } from "../rpc-error.ts";
import type { RpcMethod } from "../rpc-params.ts";
import { type Channel, subscriptionChannels } from "./subscription-channels.ts";

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
    const slot = ledger.slots.current();
    timer = setTimeout(
      () => {
        timer = undefined;
        ledger.slots.current();
        watchSlotEnd();
      },
      Math.ceil(ledger.clock.msUntilEnd(slot)),
    );
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
