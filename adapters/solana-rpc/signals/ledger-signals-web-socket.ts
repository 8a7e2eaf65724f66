import { Effect, Layer, Queue, type Redacted, Schema, Stream } from "effect";
import type { Address } from "../../../core/domain/address.ts";
import { parseLedgerSignature } from "../../../core/domain/ledger/signature.ts";
import type { Commitment } from "../../../ports/ledger/ledger.ts";
import {
  type LedgerSignal,
  LedgerSignals,
  type SignalSource,
} from "../../../ports/ledger/ledger-signals.ts";
import { listenToNode, type NodeListener, notListening } from "./node-web-socket.ts";

/** The result of a logsNotification (Agave `rpc-client-types`, `RpcLogsResponse`). */
const isLogs = Schema.is(
  Schema.Struct({
    context: Schema.Struct({ slot: Schema.Natural }),
    value: Schema.Struct({ signature: Schema.String, err: Schema.Unknown }),
  }),
);

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

/**
 * The signal in a notification, null for one that does not say of which transaction. Undefined for a transaction that
 * failed, since it changed nothing.
 */
const signalIn = (
  told: Parameters<NodeListener["notified"]>[0],
  addresses: ReadonlyArray<Address>,
): LedgerSignal | undefined => {
  if (told === null || !isLogs(told.result)) return null;
  const { context, value } = told.result;
  if (value.err !== null) return undefined;
  const names = addresses[told.of];
  const signature = parseLedgerSignature(value.signature);
  if (names === undefined || signature === undefined) return null;
  return { signature, slot: BigInt(context.slot), names };
};

/** A source of signals over a node's `logsSubscribe`. */
export const webSocketSignals = ({ url, addresses, commitment }: WebSocketSource): SignalSource => {
  const noted = notListening();
  const subscriptions = {
    url,
    kind: "logs",
    params: addresses.map((address) => [{ mentions: [address] }, { commitment }]),
    without: "syncs go on by interval",
  };
  return {
    changes: Stream.callback<LedgerSignal>(
      (queue) => {
        const signal = (told: LedgerSignal): void => void Queue.offerUnsafe(queue, told);
        return listenToNode(subscriptions, noted, {
          // Something may have happened while there was no connection.
          opened: () => signal(null),
          taken: () => undefined,
          pushed: () => undefined,
          notified: (told) => {
            const heard = signalIn(told, addresses);
            if (heard !== undefined) signal(heard);
          },
          lost: () => undefined,
        });
      },
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
