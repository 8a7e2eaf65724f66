import { Client, type ClientDuplexStream, credentials, Metadata, status } from "@grpc/grpc-js";
import { Effect, Redacted } from "effect";
import { SUBSCRIBE, type SubscribeRequest, type SubscribeUpdate } from "./geyser-protocol.ts";

/** A message may hold an account. The programs' own accounts have under 1 KiB, and their data is not asked for. */
const MOST_BYTES = 1 << 20;
/** A stream without any message for this long, even to a ping, is dead. */
const QUIET_MS = 30_000;
/** The text of a server's refusal, in characters, as the log shows it. */
const MOST_DETAIL = 200;

const PING: SubscribeRequest = { ping: { id: 1 } };

type Call = ClientDuplexStream<SubscribeRequest, SubscribeUpdate>;

/** An update of nothing for bytes that are none: one message of garbage is no reason to lose the stream. */
const decode = (bytes: Buffer): SubscribeUpdate => {
  try {
    return SUBSCRIBE.responseDeserialize(bytes);
  } catch {
    return { filters: [] };
  }
};

const open = (url: URL, token: Redacted.Redacted | null, subscription: SubscribeRequest) => {
  const isTls = url.protocol === "https:";
  const client = new Client(
    `${url.hostname}:${url.port === "" ? (isTls ? 443 : 80) : url.port}`,
    isTls ? credentials.createSsl() : credentials.createInsecure(),
    {
      "grpc.max_receive_message_length": MOST_BYTES,
      "grpc.enable_retries": 0,
      // A shared pool would add its own backoff to that of the reconnects.
      "grpc.use_local_subchannel_pool": 1,
    },
  );
  const metadata = new Metadata();
  if (token !== null) metadata.set("x-token", Redacted.value(token));
  const call: Call = client.makeBidiStreamRequest(
    SUBSCRIBE.path,
    SUBSCRIBE.requestSerialize,
    decode,
    metadata,
  );
  // Cancelling a stream is an error to it, which nobody waits for.
  call.on("error", () => {});
  call.write(subscription);
  return { client, call };
};

/** A ping, unless the server reads so slowly that requests wait: they must not pile up. */
const ping = (call: Call): void => {
  if (!call.writableNeedDrain) call.write(PING);
};

/**
 * One stream until it is lost or dead. Calls `hear` with each update, an empty one for bytes that cannot be decoded, and
 * answers the server's pings. Returns why it ended, as a text for the log.
 */
export const geyserStream = (
  url: URL,
  token: Redacted.Redacted | null,
  subscription: SubscribeRequest,
  hear: (update: SubscribeUpdate) => void,
): Effect.Effect<string> =>
  Effect.acquireUseRelease(
    Effect.sync(() => open(url, token, subscription)),
    ({ call }) => {
      let heard = false;
      const lost = Effect.callback<string>((resume) => {
        call.on("data", (update: SubscribeUpdate) => {
          heard = true;
          if (update.ping !== undefined) ping(call);
          hear(update);
        });
        call.on("status", ({ code, details }) =>
          resume(Effect.succeed(`${status[code]} ${details.slice(0, MOST_DETAIL)}`.trim())),
        );
      });
      const dead = Effect.gen(function* () {
        do {
          heard = false;
          ping(call);
          yield* Effect.sleep(QUIET_MS);
        } while (heard);
        return `nothing was heard for ${QUIET_MS / 1000} s`;
      });
      return Effect.raceFirst(lost, dead);
    },
    ({ client, call }) =>
      Effect.sync(() => {
        call.cancel();
        client.close();
      }),
  );
