import { type Context, Duration, Effect, Exit, Fiber } from "effect";
import { monotonicMs } from "../../../core/use-cases/monotonic-time.ts";

/** One server-sent event. */
export type StreamedEvent = { readonly id: string; readonly data: string };

/** A comment keeps proxies and the connection's own limit from closing a quiet stream. */
const COMMENT_EVERY_MS = 15_000;
/** How often a stream that waits asks whether it is over. */
const LOOK_WHETHER_OVER = Duration.millis(250);

const frameOf = ({ id, data }: StreamedEvent): string => `id: ${id}\ndata: ${data}\n\n`;

/**
 * A body of server-sent events (WHATWG HTML, section 9.2). New events are read only when the client has
 * received the earlier ones, so a slow client costs nothing. The stream ends when a read fails, or
 * when `isOver` returns true. The client then reconnects with its last id.
 */
export const eventStream = <R>(source: {
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

  /** Waits for growth. Looks meanwhile whether the stream is over, which nothing tells it. */
  const waited = Effect.gen(function* () {
    const beganMs = yield* monotonicMs;
    const grown = yield* Effect.forkChild(source.grown, { startImmediately: true });
    while (!source.isOver() && (yield* monotonicMs) - beganMs < COMMENT_EVERY_MS) {
      const after = yield* Effect.timeoutOption(Fiber.join(grown), LOOK_WHETHER_OVER);
      if (after._tag === "Some") return;
    }
    yield* Fiber.interrupt(grown);
  });

  /** Waits for events, about `COMMENT_EVERY_MS` at most; null when the stream is over. What `next` has read is always sent. */
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
