import {
  jetstream,
  JetStreamApiCodes,
  JetStreamApiError,
  jetstreamManager,
} from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { Effect, Layer, Redacted } from "effect";
import {
  LogStream,
  LogStreamUnavailable,
  type StreamedEntry,
  type StreamEnd,
} from "../../ports/log/log-stream.ts";

/** How long a server may take to let a connection in, and to answer a request. */
const ANSWER_WITHIN_MS = 5000;
/** The header that says which leaf of which log a message is; a server drops one that it has seen lately. */
const MESSAGE_ID = "Nats-Msg-Id";

/** The stream of a log, and what the subjects of its messages begin with. A name has no dot, slash or space there. */
const streamOf = (origin: string): string => origin.replaceAll(/[^A-Za-z0-9-]/g, "_");

const messageId = (origin: string, index: number): string => `${origin}/${index}`;

/** A name or a password of an address, without its percent-encoding. */
const decoded = (text: string): string => decodeURIComponent(text);

/** What the address of a server says: where it is, and who asks there. A name without a password is a token. */
const optionsOf = (url: URL) => ({
  servers: url.host,
  name: "settlement-evidence",
  // Whoever fails reads the stream's end again, and connects for that.
  reconnect: false,
  timeout: ANSWER_WITHIN_MS,
  ...(url.protocol === "tls:" ? { tls: {} } : {}),
  ...(url.username === ""
    ? {}
    : url.password === ""
      ? { token: decoded(url.username) }
      : { user: decoded(url.username), pass: decoded(url.password) }),
});

const isApiError = (cause: unknown, ...codes: ReadonlyArray<number>): boolean =>
  cause instanceof JetStreamApiError && codes.includes(cause.code);

/** The message's place is taken, or not reached yet. */
const isMisplaced = (cause: unknown): boolean =>
  isApiError(
    cause,
    JetStreamApiCodes.StreamWrongLastSequence,
    JetStreamApiCodes.StreamWrongLastSequenceUnknown,
  );

const unavailable = (cause: unknown): LogStreamUnavailable => {
  if (cause instanceof LogStreamUnavailable) return cause;
  const message = cause instanceof Error ? cause.message : "no answer";
  return new LogStreamUnavailable({ reason: `the NATS server: ${message}` });
};

/** Asks over the process's one connection: made at the first use, and anew behind each failure. */
const makeAsk = Effect.fnUntraced(function* (url: URL) {
  let connection: NatsConnection | null = null;
  const close = async (): Promise<void> => {
    const closing = connection;
    connection = null;
    await closing?.close();
  };
  yield* Effect.addFinalizer(() => Effect.promise(close));
  return <A>(
    work: (connection: NatsConnection) => Promise<A>,
  ): Effect.Effect<A, LogStreamUnavailable> =>
    Effect.tryPromise({
      try: async () => {
        connection ??= await connect(optionsOf(url));
        return work(connection);
      },
      catch: unavailable,
    }).pipe(Effect.tapError(() => Effect.promise(close)));
});

/** Where a log's stream ends. It is made where there is none, and its last message read back. */
const endOf = async (connection: NatsConnection, origin: string): Promise<StreamEnd> => {
  const { streams } = await jetstreamManager(connection, {
    timeout: ANSWER_WITHIN_MS,
    checkAPI: false,
  });
  const name = streamOf(origin);
  const { state } = await streams.info(name).catch((cause: unknown) => {
    if (!isApiError(cause, JetStreamApiCodes.StreamNotFound)) throw cause;
    return streams.add({ name, subjects: [`${name}.>`], description: origin });
  });
  const size = state.last_seq;
  const message = size === 0 ? null : await streams.getMessage(name, { seq: size });
  if (message === null) return { size, last: null };
  if (message.header.get(MESSAGE_ID) === messageId(origin, size - 1))
    return { size, last: message.data };
  const reason = `message ${size} of the stream ${name} is no entry of this log`;
  throw new LogStreamUnavailable({ reason });
};

/**
 * Sends one after the other, so that nothing follows an entry that the server has refused: a later one could fit again
 * behind a message that somebody else has put there.
 */
const append = async (
  connection: NatsConnection,
  origin: string,
  from: number,
  entries: ReadonlyArray<StreamedEntry>,
): Promise<boolean> => {
  const streamName = streamOf(origin);
  const server = jetstream(connection, { timeout: ANSWER_WITHIN_MS });
  for (const [at, { kind, leaf }] of entries.entries()) {
    const lastSequence = from + at;
    try {
      const { seq } = await server.publish(`${streamName}.${kind}`, leaf, {
        msgID: messageId(origin, lastSequence),
        expect: { streamName, lastSequence },
        retries: 0,
      });
      // One that the server has seen lately is not taken again; it stands in its place already, or it is not ours.
      if (seq !== lastSequence + 1) return false;
    } catch (cause) {
      if (isMisplaced(cause)) return false;
      throw cause;
    }
  }
  return true;
};

/**
 * Streams of NATS JetStream: leaf n is the message n + 1 of its log's stream, on a subject that ends with its kind. The
 * server takes it there alone, so that the stream itself is the only record of what has been sent.
 */
export const logStreamNats = (url: Redacted.Redacted<URL>): Layer.Layer<LogStream> =>
  Layer.effect(
    LogStream,
    Effect.gen(function* () {
      const ask = yield* makeAsk(Redacted.value(url));
      return LogStream.of({
        end: Effect.fn("LogStream.end")((origin) => ask((connection) => endOf(connection, origin))),
        append: Effect.fn("LogStream.append")((origin, from, entries) =>
          ask((connection) => append(connection, origin, from, entries)),
        ),
      });
    }),
  );
