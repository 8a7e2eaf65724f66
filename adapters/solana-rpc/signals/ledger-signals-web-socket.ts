import { Effect, Layer, Queue, Redacted, Schema, Stream } from "effect";
import type { Address } from "../../../core/domain/address.ts";
import { parseLedgerSignature } from "../../../core/domain/ledger/signature.ts";
import { reconnect } from "../../../core/use-cases/reconnect.ts";
import type { Commitment } from "../../../ports/ledger/ledger.ts";
import {
  type LedgerSignal,
  LedgerSignals,
  type SignalSource,
} from "../../../ports/ledger/ledger-signals.ts";
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

  /** Whether the node has taken every subscription. */
  get isLive(): boolean {
    return this.#names.size === this.#addresses.length;
  }

  /**
   * The signal in a message, null for a notification that does not say of which transaction. Undefined for any other
   * message, and for a transaction that failed.
   */
  hear(text: string): LedgerSignal | undefined {
    const isLogs = text.includes('"logsNotification"');
    if (!isLogs && this.isLive) return undefined;
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
export type WebSocketSource = {
  /** A ws or wss address; it may hold an API key. */
  readonly url: Redacted.Redacted<URL>;
  readonly addresses: ReadonlyArray<Address>;
  /** Whether to tell of transactions once they are confirmed, or once they are final. */
  readonly commitment: Commitment;
};

/** Where a source notes how it stands. */
type Noted = { isLive: boolean; failures: number };

/** Connections in a row without a subscription, after which the operator is told. */
const MOST_FAILURES = 3;

const request = (id: number, method: string, params: ReadonlyArray<unknown>): string =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params });

/**
 * One connection until it is lost or dead. Calls `signal` once it is open and for each notification of a transaction
 * that did not fail: one that failed changed nothing.
 */
const connection = (
  { url, addresses, commitment }: WebSocketSource,
  noted: Noted,
  signal: (told: LedgerSignal) => void,
) =>
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
          if (!noted.isLive && subscriptions.isLive) {
            noted.isLive = true;
            noted.failures = 0;
          }
          if (told !== undefined) signal(told);
        });
        socket.addEventListener("open", () => {
          for (const [at, address] of addresses.entries()) {
            const mentions = [{ mentions: [address] }, { commitment }];
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
    (socket) =>
      Effect.sync(() => {
        noted.isLive = false;
        socket.close();
      }),
  );

/** Listens for ever, on one connection after the other. */
const listen = (source: WebSocketSource, noted: Noted, signal: (told: LedgerSignal) => void) =>
  reconnect(connection(source, noted, signal), ({ pauseMs }) => {
    noted.failures += 1;
    const fields = {
      node: redactedRpcAddress(Redacted.value(source.url)),
      failures: noted.failures,
      pauseMs,
    };
    // Nodes end healthy connections. The third that took no subscription, one after the other, needs the operator.
    return noted.failures === MOST_FAILURES
      ? Effect.logWarning(
          "no signals from the ledger's WebSocket; syncs go on by interval. Check SOLANA_WS_URL",
          fields,
        )
      : Effect.logDebug("no signals from the ledger", fields);
  });

/** A source of signals over a node's `logsSubscribe`. */
export const webSocketSignals = (source: WebSocketSource): SignalSource => {
  const noted: Noted = { isLive: false, failures: 0 };
  return {
    changes: Stream.callback<LedgerSignal>(
      (queue) => listen(source, noted, (told) => void Queue.offerUnsafe(queue, told)),
      { bufferSize: BUFFERED, strategy: "dropping" },
    ),
    standing: Effect.sync(() => ({ ...noted })),
  };
};

/** The LedgerSignals port over a node's `logsSubscribe`. */
export const ledgerSignalsWebSocket = (
  source: Omit<WebSocketSource, "commitment">,
): Layer.Layer<LedgerSignals> =>
  Layer.sync(LedgerSignals, () => webSocketSignals({ ...source, commitment: "finalized" }));
