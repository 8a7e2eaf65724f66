import { Schema } from "effect";
import type { Address } from "../../../core/domain/address.ts";
import { parseLedgerSignature } from "../../../core/domain/ledger/signature.ts";
import type { LedgerSignal } from "../../../ports/ledger/ledger-signals.ts";

/** The answer to a subscription (Agave `rpc/src/rpc_pubsub.rs`): its request's id, and the subscription's number. */
const isSubscribed = Schema.is(Schema.Struct({ id: Schema.Natural, result: Schema.Natural }));

/** A logsNotification (Agave `rpc-client-types`, `RpcLogsResponse`). */
const isNotification = Schema.is(
  Schema.Struct({
    params: Schema.Struct({
      subscription: Schema.Natural,
      result: Schema.Struct({
        context: Schema.Struct({ slot: Schema.Natural }),
        value: Schema.Struct({ signature: Schema.String, err: Schema.Unknown }),
      }),
    }),
  }),
);

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** What one connection's messages say of its subscriptions, the first of which has the request id 1. */
export class LogsSubscriptions {
  readonly #addresses: ReadonlyArray<Address>;
  readonly #names = new Map<number, Address>();

  constructor(addresses: ReadonlyArray<Address>) {
    this.#addresses = addresses;
  }

  /**
   * The signal in a message, null for a notification that does not say of which transaction. Undefined for any other
   * message, and for a transaction that failed.
   */
  hear(text: string): LedgerSignal | undefined {
    const isLogs = text.includes('"logsNotification"');
    if (!isLogs && this.#names.size === this.#addresses.length) return undefined;
    const message = parsed(text);
    if (!isLogs) {
      const address = isSubscribed(message) ? this.#addresses[message.id - 1] : undefined;
      if (isSubscribed(message) && address !== undefined) this.#names.set(message.result, address);
      return undefined;
    }
    if (!isNotification(message)) return null;
    const { subscription, result } = message.params;
    if (result.value.err !== null) return undefined;
    const names = this.#names.get(subscription);
    const signature = parseLedgerSignature(result.value.signature);
    if (names === undefined || signature === undefined) return null;
    return { signature, slot: BigInt(result.context.slot), names };
  }
}
