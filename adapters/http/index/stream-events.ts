import { type Static, Type } from "@sinclair/typebox";
import { type Context, Duration, Effect, Exit, Fiber, Metric } from "effect";
import type { IndexedEvent } from "../../../core/domain/index/settlement-event.ts";
import { clientGroup } from "../../../core/domain/relay/relay-policy.ts";
import { followEvents } from "../../../core/use-cases/index/follow-events.ts";
import {
  followConfirmed,
  type FollowedChange,
} from "../../../core/use-cases/index/confirmed/follow-confirmed.ts";
import { monotonicMs } from "../../../core/use-cases/single-flight.ts";
import { Instance } from "../../../ports/instance.ts";
import { LogIdentity } from "../../../ports/log/log-signer.ts";
import { judged, oneOf } from "../openapi/values.ts";
import { InvalidRequest, MalformedEventId, RateLimited } from "../problems/http-failures.ts";
import { parseLogPosition } from "../request/page-cursor.ts";
import { fieldsOf } from "../request/request-fields.ts";
import { endpoint } from "../server/endpoint.ts";
import type { HttpServices } from "../server/http-services.ts";
import {
  eventExample,
  eventRecord,
  sampleLogId,
  StreamedSettlementEvent,
} from "./event-contract.ts";
import { EventParameters } from "./query-escrows.ts";

/** One server-sent event. Without an id, a client that reconnects gets it again or what has become of it. */
type StreamedEvent = { readonly id: string | null; readonly data: string };

/** A comment keeps proxies and the connection's own limit from closing a quiet stream. */
const COMMENT_EVERY_MS = 15_000;
/** How often a stream that waits asks whether it is over. */
const LOOK_WHETHER_OVER = Duration.millis(250);

const frameOf = ({ id, data }: StreamedEvent): string =>
  id === null ? `data: ${data}\n\n` : `id: ${id}\ndata: ${data}\n\n`;

/**
 * A body of server-sent events (WHATWG HTML, section 9.2). New events are read only when the client has
 * received the earlier ones, so a slow client costs nothing. The stream ends when a read fails, or
 * when `isOver` returns true. The client then reconnects with its last id.
 */
const eventStream = <R>(source: {
  readonly next: Effect.Effect<ReadonlyArray<StreamedEvent>, unknown, R>;
  readonly context: Context.Context<R>;
  readonly isOver: () => boolean;
  /** Completes once `next` may have events again, after it had none. */
  readonly grown: Effect.Effect<void, unknown, R>;
  readonly comeBackSeconds: number;
  /** Called when reading begins, and again when it ends. */
  readonly onOpen: () => void;
  readonly onClose: () => void;
}): ReadableStream<Uint8Array> => {
  const run = Effect.runPromiseExitWith(source.context);
  const gone = new AbortController();
  const utf8 = new TextEncoder();
  let isOpen = false;
  const close = (): void => {
    gone.abort();
    if (!isOpen) return;
    isOpen = false;
    source.onClose();
  };

  /** Waits for growth. Checks at intervals whether the stream is over, because nothing signals that. */
  const waited = Effect.gen(function* () {
    const beganMs = yield* monotonicMs;
    const grown = yield* Effect.forkChild(source.grown, { startImmediately: true });
    while (!source.isOver() && (yield* monotonicMs) - beganMs < COMMENT_EVERY_MS) {
      const after = yield* Effect.timeoutOption(Fiber.join(grown), LOOK_WHETHER_OVER);
      if (after._tag === "Some") return;
    }
    yield* Fiber.interrupt(grown);
  });

  /**
   * Waits for events, about `COMMENT_EVERY_MS` at most; null when the stream is over. What `next` has read is always
   * sent.
   */
  const nextText = Effect.gen(function* () {
    const beganMs = yield* monotonicMs;
    while ((yield* monotonicMs) - beganMs < COMMENT_EVERY_MS) {
      if (source.isOver()) return null;
      const events = yield* source.next;
      if (events.length > 0) return events.map(frameOf).join("");
      yield* waited;
    }
    return ": nothing new\n\n";
  });

  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        if (!isOpen) {
          isOpen = true;
          source.onOpen();
          // Sent at once, so that the client knows that it is connected.
          controller.enqueue(utf8.encode(`retry: ${source.comeBackSeconds * 1000}\n\n`));
          return;
        }
        const exit = await run(nextText, { signal: gone.signal });
        if (gone.signal.aborted) return;
        if (Exit.isSuccess(exit) && exit.value !== null) {
          controller.enqueue(utf8.encode(exit.value));
          return;
        }
        close();
        controller.close();
      },
      cancel: close,
    },
    { highWaterMark: 0 },
  );
};

/** Most streams that one process keeps open. */
const MOST_STREAMS = 512;
const MOST_OF_A_CLIENT = 16;
/** Wait before a client that was refused or lost its stream should reconnect, seconds. */
const COME_BACK_SECONDS = 2;

/** The id of a streamed event: the log's id and the event's number. */
const EVENT_ID = /^[0-9a-f]{16}-(0|[1-9][0-9]{0,17})$/;
const AFTER = /^(0|[0-9a-f]{16}-(0|[1-9][0-9]{0,17}))$/;

const { merchant, agent_owner, state, escrow } = EventParameters.properties;
const StreamParameters = Type.Object(
  {
    merchant,
    agent_owner,
    state,
    escrow,
    commitment: Type.Optional(
      oneOf(
        ["finalized", "confirmed"],
        "`confirmed` shows each event some 12 seconds earlier: first with `finality` `confirmed` and without an `id`, later again as `final` or `retracted`. Without it, only final events come.",
        "StreamCommitment",
      ),
    ),
    after: Type.Optional(
      Type.String({
        ...judged({ pattern: AFTER.source }),
        description:
          "Begin behind the event with this `id`; 0 replays everything. Without it, and without `Last-Event-ID`, the stream begins now.",
      }),
    ),
  },
  { additionalProperties: false },
);

/** The position after which to begin, null for now. `Last-Event-ID` takes precedence over the query. */
const startOf = Effect.fnUntraced(function* (
  query: Static<typeof StreamParameters>,
  lastEventId: string | null,
  logId: string,
) {
  if (query.after !== undefined && !AFTER.test(query.after))
    return yield* new InvalidRequest({
      faults: [{ pointer: "?after", detail: "must be 0 or the `id` of an event of this stream" }],
    });
  const text = lastEventId ?? query.after ?? null;
  if (text === null) return null;
  if (lastEventId === null && text === "0") return 0n;
  const place = parseLogPosition(text, "-");
  if (place === undefined) return yield* new MalformedEventId({ fault: "malformed" });
  if (place.logId !== logId) return yield* new MalformedEventId({ fault: "another_log" });
  return place.seq;
});

type Filter = Parameters<typeof followEvents>[0];

/** What a stream sends of an event. */
type SentEvent = {
  readonly id: string | null;
  readonly event: IndexedEvent;
  readonly finality: { readonly finality?: FollowedChange["finality"] };
};

/** Final events, with their ids. */
const finalSource = Effect.fnUntraced(function* (
  filter: Filter,
  after: bigint | null,
  logId: string,
) {
  const { next, grown } = yield* followEvents(filter, after);
  const events = Effect.map(next, (all) =>
    all.map((event): SentEvent => ({ id: `${logId}-${event.position}`, event, finality: {} })),
  );
  return { next: events, grown, close: (): void => undefined };
});

/** Events as they are confirmed, final or retracted. Only final ones have ids: a client resumes behind them. */
const confirmedSource = Effect.fnUntraced(function* (
  filter: Filter,
  after: bigint | null,
  logId: string,
) {
  const { next, grown, close } = yield* followConfirmed(filter, after);
  const events = Effect.map(next, (all) =>
    all.map(({ finality, event }): SentEvent => ({
      id: finality === "final" ? `${logId}-${event.position}` : null,
      event,
      finality: { finality },
    })),
  );
  return { next: events, grown, close };
});

/** How many clients follow the events. */
export const openStreams = Metric.gauge("event_streams_open", {
  description: "Clients that follow the events over server-sent events now.",
});

/** `GET /v1/indexer/events/stream` */
export const streamEventsEndpoint = (isDraining: () => boolean) => {
  const open = new Map<string, number>();
  let streams = 0;
  const count = (client: string, by: 1 | -1): void => {
    streams += by;
    const left = (open.get(client) ?? 0) + by;
    if (left === 0) open.delete(client);
    else open.set(client, left);
  };

  return endpoint({
    method: "GET",
    path: "/v1/indexer/events/stream",
    operationId: "streamEvents",
    tag: "Index",
    summary: "Follow settlement events as they are indexed",
    description:
      "Server-sent events: `data` is the record that the list shows, `id` its position. A client that sends the last `id` as `Last-Event-ID`, as browsers do by themselves, continues after it without gaps or repetitions, also after a restart. A comment every 15 seconds keeps the connection open. With `commitment=confirmed` each record has `finality`: `confirmed` at once, then `final`, or `retracted` when a fork undid the transaction. Nothing may be handed out for a confirmed event that a retraction would cost more than the operator will bear. Only final events have an `id`. After a reconnection, those that are confirmed and not final come again: whatever was confirmed before and does not come again is final or retracted. An event's `signature` and `slot` are null while the ledger's history has not been read; the list shows them later.",
    budget: "reads",
    maySeconds: 60,
    query: StreamParameters,
    requestHeaders: {
      "last-event-id": Type.String({
        pattern: EVENT_ID.source,
        description: "The `id` of the last event that arrived.",
      }),
    },
    answers: {
      200: {
        description: "The stream.",
        content: {
          "text/event-stream": {
            schema: Type.String({
              description: "WHATWG HTML, section 9.2. The `data` of each event is this record.",
              contentMediaType: "application/json",
              contentSchema: StreamedSettlementEvent,
            }),
            example: () => {
              const record = eventExample();
              return `id: ${sampleLogId()}-${record.position}\ndata: ${JSON.stringify(record)}\n\n`;
            },
          },
        },
        headers: { "x-accel-buffering": "Asks proxies not to buffer events." },
      },
    },
    problems: ["invalid_address", "malformed_cursor", "rate_limited", "store_unavailable"],
  }).handle(
    Effect.fnUntraced(function* ({ query, headers, client }) {
      const logId = yield* LogIdentity.use(({ id }) => id);
      const after = yield* startOf(query, headers.get("last-event-id"), logId);
      const key = clientGroup(client());
      if (streams >= MOST_STREAMS || (open.get(key) ?? 0) >= MOST_OF_A_CLIENT)
        return yield* new RateLimited({ resetSeconds: COME_BACK_SECONDS });
      const { supportedMints } = yield* Instance;
      const { commitment, ...filter } = fieldsOf(query);
      const follower = yield* commitment === "confirmed"
        ? confirmedSource(filter, after, logId)
        : finalSource(filter, after, logId);
      const context = yield* Effect.context<HttpServices>();
      const stream = eventStream({
        next: Effect.map(follower.next, (events) =>
          events.map(({ id, event, finality }) => ({
            id,
            data: JSON.stringify({ ...eventRecord(event, supportedMints), ...finality }),
          })),
        ),
        context,
        isOver: isDraining,
        grown: follower.grown,
        comeBackSeconds: COME_BACK_SECONDS,
        onOpen: () => {
          count(key, 1);
          openStreams.updateUnsafe(streams, context);
        },
        onClose: () => {
          count(key, -1);
          openStreams.updateUnsafe(streams, context);
          follower.close();
        },
      });
      return { stream, headers: { "x-accel-buffering": "no" } };
    }),
  );
};
