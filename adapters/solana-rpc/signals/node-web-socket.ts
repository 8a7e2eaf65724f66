import { Effect, Redacted, Schema } from "effect";
import { reconnect } from "../../../core/use-cases/reconnect.ts";
import type { SignalStanding } from "../../../ports/ledger/ledger-signals.ts";
import { parseJson } from "../transport/rpc-envelope.ts";
import { redactedRpcAddress } from "../transport/rpc-failure.ts";

/** The answer to a subscription (Agave `rpc/src/rpc_pubsub.rs`): its request's id, and the subscription's number. */
const isTaken = Schema.is(Schema.Struct({ id: Schema.Natural, result: Schema.Natural }));

const isRefused = Schema.is(Schema.Struct({ id: Schema.Natural, error: Schema.Unknown }));

/** A notification of a subscription (Agave `rpc/src/rpc_subscription_tracker.rs`). */
const isNotification = Schema.is(
  Schema.Struct({
    params: Schema.Struct({ subscription: Schema.Natural, result: Schema.Unknown }),
  }),
);

/** What to subscribe to at a node's WebSocket, and who hears of it. */
export type NodeSubscriptions = {
  /** A ws or wss address; it may hold an API key. */
  readonly url: Redacted.Redacted<URL>;
  /** The subscriptions' common name before `Subscribe` and `Notification`: `logs` or `account`. */
  readonly kind: string;
  /** The parameters of each subscription. */
  readonly params: ReadonlyArray<ReadonlyArray<unknown>>;
  /** What goes on more slowly while nothing is heard, in words of the operator's log. */
  readonly without: string;
};

/** Who hears what a node's WebSocket tells. */
export type NodeListener = {
  /** A connection is open. */
  readonly opened: () => void;
  /** The node has taken every subscription. */
  readonly taken: () => void;
  /** The node sends notifications. */
  readonly pushed: () => void;
  /** A notification of the subscription with these parameters' index; null for a notification that cannot be read. */
  readonly notified: (told: { readonly of: number; readonly result: unknown } | null) => void;
  /** The connection is over. */
  readonly lost: () => void;
};

/** Where a source notes how it stands. */
export type Noted = { -readonly [Name in keyof SignalStanding]: SignalStanding[Name] };

/** How a source stands before its first connection. */
export const notListening = (): Noted => ({ isLive: false, isSilent: false, failures: 0 });

/** A connection without any message for this long, even to a probe, is dead. */
const QUIET_MS = 30_000;

/** Connections in a row without a subscription, after which the operator is told. */
const MOST_FAILURES = 3;

const request = (id: number, method: string, params: ReadonlyArray<unknown>): string =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params });

/** The ids of the probe's requests; the subscriptions have those from 1 on. */
const PROBE_ID = 0;
const PROBE_END_ID = 1_000_000;

/**
 * Whether a node sends notifications at all, which a subscription that nothing happens to does not show. A probe
 * subscribes to slots, of which each cluster has two or three a second, until the first of them is heard.
 */
class Probe {
  readonly #socket: WebSocket;
  /** The number of the subscription to slots that is open. */
  #number: number | null = null;
  #isRefused = false;
  #isHeard = false;

  constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  /** Whether the node has taken the probe and sent no notification since. */
  get isUnanswered(): boolean {
    return !this.#isHeard && !this.#isRefused;
  }

  /** Begins the next probe. */
  send(): void {
    this.#isHeard = false;
    // The slots of an unanswered probe answer this one as well.
    if (this.#number === null) this.#socket.send(request(PROBE_ID, "slotSubscribe", []));
  }

  taken(number: number): void {
    this.#number = number;
  }

  refused(): void {
    this.#isRefused = true;
  }

  /** Takes a notification of any subscription. Says whether it is the first since the probe began. */
  heard(number: number): boolean {
    const isFirst = !this.#isHeard;
    this.#isHeard = true;
    if (number === this.#number) {
      this.#socket.send(request(PROBE_END_ID, "slotUnsubscribe", [number]));
      this.#number = null;
    }
    return isFirst;
  }
}

/** What one connection's messages say of its subscriptions. */
const hearing = (
  socket: WebSocket,
  { kind, params }: NodeSubscriptions,
  noted: Noted,
  listener: NodeListener,
) => {
  const notification = `"${kind}Notification"`;
  const probe = new Probe(socket);
  /** The subscriptions' indices by the numbers that the node gave them. */
  const indices = new Map<number, number>();
  const taken = (id: number, number: number): void => {
    if (id === PROBE_ID) return probe.taken(number);
    if (id > params.length) return;
    indices.set(number, id - 1);
    if (indices.size < params.length || noted.isLive) return;
    noted.isLive = true;
    noted.failures = 0;
    listener.taken();
  };
  const hear = (text: string): void => {
    const message = parseJson(text);
    const isOwn = text.includes(notification);
    if (isNotification(message)) {
      const { subscription, result } = message.params;
      if (probe.heard(subscription)) {
        noted.isSilent = false;
        listener.pushed();
      }
      const of = indices.get(subscription);
      if (isOwn) listener.notified(of === undefined ? null : { of, result });
    } else if (isOwn) listener.notified(null);
    else if (isTaken(message)) taken(message.id, message.result);
    else if (isRefused(message) && message.id === PROBE_ID) probe.refused();
  };
  return { probe, hear };
};

/** One connection until it is lost or dead. */
const connection = (subscriptions: NodeSubscriptions, noted: Noted, listener: NodeListener) =>
  Effect.acquireUseRelease(
    Effect.sync(() => new WebSocket(Redacted.value(subscriptions.url))),
    (socket) => {
      const { probe, hear } = hearing(socket, subscriptions, noted, listener);
      let isAnything = false;
      const lost = Effect.callback<void>((resume) => {
        socket.addEventListener("close", () => resume(Effect.void));
        socket.addEventListener("error", () => resume(Effect.void));
        socket.addEventListener("message", ({ data }) => {
          isAnything = true;
          if (typeof data === "string") hear(data);
        });
        socket.addEventListener("open", () => {
          for (const [at, params] of subscriptions.params.entries())
            socket.send(request(at + 1, `${subscriptions.kind}Subscribe`, params));
          listener.opened();
          probe.send();
        });
      });
      const dead = Effect.gen(function* () {
        do {
          isAnything = false;
          yield* Effect.sleep(QUIET_MS);
          // Nothing but a notification ends it: the next connection to a silent node is silent as well.
          noted.isSilent = noted.isLive ? probe.isUnanswered : noted.isSilent;
          if (socket.readyState === WebSocket.OPEN) probe.send();
        } while (isAnything);
      });
      return Effect.raceFirst(lost, dead);
    },
    (socket) =>
      Effect.sync(() => {
        noted.isLive = false;
        listener.lost();
        socket.close();
      }),
  );

/** Listens for ever, on one connection after the other. */
export const listenToNode = (
  subscriptions: NodeSubscriptions,
  noted: Noted,
  listener: NodeListener,
) =>
  reconnect(connection(subscriptions, noted, listener), ({ pauseMs }) => {
    noted.failures += 1;
    const fields = {
      node: redactedRpcAddress(Redacted.value(subscriptions.url)),
      failures: noted.failures,
      pauseMs,
    };
    // Nodes end healthy connections. The third that took no subscription, one after the other, needs the operator.
    return noted.failures === MOST_FAILURES
      ? Effect.logWarning(
          `nothing is heard from the ledger's WebSocket; ${subscriptions.without}. Check SOLANA_WS_URL`,
          fields,
        )
      : Effect.logDebug("nothing is heard from the ledger's WebSocket", fields);
  });
