import { Effect, Layer, Queue, Redacted, Schema, Stream } from "effect";
import type { Address } from "../../../core/domain/address.ts";
import { parseLedgerSignature } from "../../../core/domain/ledger/signature.ts";
import { reconnect } from "../../../core/use-cases/reconnect.ts";
import { type LedgerSignal, LedgerSignals } from "../../../ports/ledger/ledger-signals.ts";
import { parseJson } from "../transport/rpc-envelope.ts";
import { redactedRpcAddress } from "../transport/rpc-failure.ts";

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

/** What one connection's messages say of its subscriptions, the first of which has the request id 1. */
class LogsSubscriptions {
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
    const message = parseJson(text);
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

/** A connection without any message for this long, even to a ping, is dead. */
const QUIET_MS = 30_000;
/** Signals that may wait for their reader. Others are lost, and their transactions are left to the history. */
const BUFFERED = 1024;

/**
 * The address of a node's WebSocket, and the accounts to watch: each transaction that names one of them is a signal.
 */
export type SignalSource = {
  /** A ws or wss address; it may hold an API key. */
  readonly url: Redacted.Redacted<URL>;
  readonly addresses: ReadonlyArray<Address>;
};

const request = (id: number, method: string, params: ReadonlyArray<unknown>): string =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params });

/**
 * One connection until it is lost or dead. Calls `signal` once it is open and for each notification of a transaction
 * that did not fail: one that failed changed nothing.
 */
const connection = ({ url, addresses }: SignalSource, signal: (told: LedgerSignal) => void) =>
  Effect.acquireUseRelease(
    Effect.sync(() => new WebSocket(Redacted.value(url))),
    (socket) => {
      let heard = false;
      const subscriptions = new LogsSubscriptions(addresses);
      const lost = Effect.callback<void>((resume) => {
        socket.addEventListener("close", () => resume(Effect.void));
        socket.addEventListener("error", () => resume(Effect.void));
        socket.addEventListener("message", ({ data }) => {
          heard = true;
          const told = typeof data === "string" ? subscriptions.hear(data) : undefined;
          if (told !== undefined) signal(told);
        });
        socket.addEventListener("open", () => {
          for (const [at, address] of addresses.entries()) {
            const mentions = [{ mentions: [address] }, { commitment: "finalized" }];
            socket.send(request(at + 1, "logsSubscribe", mentions));
          }
          // Something may have happened while there was no connection.
          signal(null);
        });
      });
      const dead = Effect.gen(function* () {
        do {
          heard = false;
          // No node knows this method. Its error answer shows that the connection works.
          if (socket.readyState === WebSocket.OPEN) socket.send(request(0, "ping", []));
          yield* Effect.sleep(QUIET_MS);
        } while (heard);
      });
      return Effect.raceFirst(lost, dead);
    },
    (socket) => Effect.sync(() => socket.close()),
  );

/** Listens for ever, on one connection after the other. */
const listen = (source: SignalSource, signal: (told: LedgerSignal) => void) =>
  reconnect(connection(source, signal), ({ pauseMs }) =>
    Effect.logDebug("no signals from the ledger", {
      node: redactedRpcAddress(Redacted.value(source.url)),
      pauseMs,
    }),
  );

/** The LedgerSignals port over a node's `logsSubscribe`. */
export const ledgerSignalsWebSocket = (source: SignalSource): Layer.Layer<LedgerSignals> =>
  Layer.succeed(LedgerSignals, {
    changes: Stream.callback<LedgerSignal>(
      (queue) => listen(source, (told) => void Queue.offerUnsafe(queue, told)),
      { bufferSize: BUFFERED, strategy: "dropping" },
    ),
  });
