import { afterAll, expect, test } from "bun:test";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { Effect, Redacted } from "effect";
import { logStreamNats } from "../../../adapters/nats/log-stream-nats.ts";
import { LogStream, type StreamedEntry } from "../../../ports/log/log-stream.ts";
import { logStreamContract } from "../../contracts/log-stream.ts";
import { NatsServer } from "./nats-server.ts";

const server = await NatsServer.start();
afterAll(() => server[Symbol.asyncDispose]());

const streamAt = (address: string) => logStreamNats(Redacted.make(new URL(address)));
logStreamContract("NATS JetStream", () => streamAt(`nats://${server.address}`));

/** A connection to the server that is not the service's. */
const directly = async (): Promise<AsyncDisposable & { readonly connection: NatsConnection }> => {
  const connection = await connect({ servers: server.address });
  return { connection, [Symbol.asyncDispose]: () => connection.close() };
};

const ENTRIES: ReadonlyArray<StreamedEntry> = [
  { kind: "network", leaf: Uint8Array.of(0, 1, 2) },
  { kind: "escrow_created", leaf: Uint8Array.of(1, 0, 255) },
];

const within = <A, E>(
  address: string,
  work: (stream: LogStream["Service"]) => Effect.Effect<A, E>,
): Promise<A> =>
  Effect.runPromise(Effect.provide(Effect.flatMap(LogStream, work), streamAt(address)));

/** Both entries put into the stream of a log, and what the server then keeps. */
const fill = (address: string, origin: string) =>
  within(address, ({ end, append }) =>
    Effect.gen(function* () {
      yield* end(origin);
      return { isThere: yield* append(origin, 0, ENTRIES), ...(yield* end(origin)) };
    }),
  );

test("leaf n is the message n + 1, on the subject of its kind, with an id that no other has", async () => {
  const origin = "evidence.example.com/log/0123456789abcdef/3";
  const stream = "evidence_example_com_log_0123456789abcdef_3";
  expect(await fill(`nats://${server.address}`, origin)).toMatchObject({ isThere: true, size: 2 });
  await using asked = await directly();
  const { streams } = await jetstreamManager(asked.connection);
  expect((await streams.info(stream)).config).toMatchObject({
    description: origin,
    subjects: [`${stream}.>`],
    storage: "file",
    max_age: 0,
    max_msgs: -1,
  });
  for (const [index, { kind, leaf }] of ENTRIES.entries()) {
    const message = await streams.getMessage(stream, { seq: index + 1 });
    expect(message?.subject).toBe(`${stream}.${kind}`);
    expect([...(message?.data ?? [])]).toEqual([...leaf]);
    expect(message?.header.get("Nats-Msg-Id")).toBe(`${origin}/${index}`);
  }
});

test("a message that somebody else put into the stream is noticed, and none of ours follows it", async () => {
  const origin = "foreign.example/log/0123456789abcdef/0";
  const address = `nats://${server.address}`;
  await fill(address, origin);
  await using asked = await directly();
  await asked.connection.request(
    "foreign_example_log_0123456789abcdef_0.escrow_created",
    "a guess",
  );
  expect(await within(address, ({ append }) => append(origin, 2, ENTRIES))).toBe(false);
  const failure = await within(address, ({ end }) => Effect.flip(end(origin)));
  expect(failure.reason).toBe(
    "message 3 of the stream foreign_example_log_0123456789abcdef_0 is no entry of this log",
  );
});

test("a killed server is asked again over another connection, and has what it took", async () => {
  await within(`nats://${server.address}`, ({ end, append }) =>
    Effect.gen(function* () {
      const origin = "killed.example/log/0123456789abcdef/0";
      yield* end(origin);
      yield* append(origin, 0, ENTRIES);
      yield* Effect.promise(() => server.kill());
      const failure = yield* Effect.flip(append(origin, 2, ENTRIES));
      expect(failure.reason).toStartWith("the NATS server: ");
      yield* Effect.promise(() => server.begin());
      expect(yield* end(origin)).toMatchObject({ size: 2 });
      expect(yield* append(origin, 2, ENTRIES)).toBe(true);
    }),
  );
});

const SECRET = "s3cret /+";
const WAYS_IN = {
  "a name and its password": [["--user", "log", "--pass", SECRET], "log:s3cret%20%2F%2B@"],
  "a token": [["--auth", SECRET], "s3cret%20%2F%2B@"],
} as const;
test.each(Object.entries(WAYS_IN))(
  "a server that asks for %s takes it, and a wrong one is in no message",
  async (_, [settings, credentials]) => {
    await using other = await NatsServer.start(...settings);
    const origin = "o.example/log/0123456789abcdef/0";
    const { address } = other;
    expect(await fill(`nats://${credentials}${address}`, origin)).toMatchObject({ size: 2 });
    const wrong = `nats://${credentials.replace("s3cret", "t0p")}${address}`;
    const { reason } = await within(wrong, ({ end }) => Effect.flip(end(origin)));
    expect(reason).toBe("the NATS server: Authorization Violation");
  },
);

test("nothing is sent in the clear to a server that was to speak TLS", async () => {
  const origin = "tls.example/log/0123456789abcdef/0";
  const { reason } = await within(`tls://log:pass@${server.address}`, ({ end }) =>
    Effect.flip(end(origin)),
  );
  expect(reason).toBe("the NATS server: server does not support 'tls'");
});
