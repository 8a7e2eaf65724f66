import { afterEach, describe, expect, test } from "bun:test";
import { Effect, Fiber, Layer, Logger, Redacted, Stream } from "effect";
import { TestClock } from "effect/testing";
import { transferLamports } from "../../../../adapters/local-ledger/genesis/funding-instructions.ts";
import { LOCAL_FAUCET } from "../../../../adapters/local-ledger/genesis/local-keys.ts";
import { signedTransaction } from "../../../../adapters/local-ledger/genesis/signed-transaction.ts";
import { accountNewsWebSocket } from "../../../../adapters/solana-rpc/signals/account-news-web-socket.ts";
import { webSocketSignals } from "../../../../adapters/solana-rpc/signals/ledger-signals-web-socket.ts";
import { addressFromBytes } from "../../../../core/domain/address.ts";
import { encodeBase64 } from "../../../../core/domain/encoding/base64.ts";
import { decodeWireTransaction } from "../../../../core/protocol/transaction/wire-transaction.ts";
import { AccountNews, type AccountTold } from "../../../../ports/ledger/account-news.ts";
import { patientClock } from "../../../doubles/patient-clock.ts";
import { startLedger } from "../../local-ledger/ledger-fixture.ts";

const WATCHED = addressFromBytes(new Uint8Array(32).fill(9));
const OWNER = addressFromBytes(new Uint8Array(32).fill(8));

const opened: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

type Asked = { readonly id: number; readonly method: string; readonly params: unknown };

/**
 * A node's WebSocket. While it is `silent` it takes subscriptions and sends no slot; it may refuse to tell of slots at
 * all. Subscriptions have the number of their request and 100.
 */
const fakeNode = () => {
  const asked: Array<Asked> = [];
  let wasAsked = (): void => {};
  const clients = new Set<Bun.ServerWebSocket>();
  const how = { isSilent: false, refusesSlots: false };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request, own) =>
      own.upgrade(request) ? undefined : new Response(null, { status: 400 }),
    websocket: {
      open: (client) => void clients.add(client),
      close: (client) => void clients.delete(client),
      message: (client, message) => {
        const request = JSON.parse(String(message)) as Asked;
        const { id, method } = request;
        asked.push(request);
        wasAsked();
        const isSlots = method === "slotSubscribe";
        const answer =
          isSlots && how.refusesSlots
            ? { error: { code: -32_601, message: "Method not found" } }
            : { result: method.endsWith("Unsubscribe") ? true : id + 100 };
        client.send(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
        if (!isSlots || how.isSilent || how.refusesSlots) return;
        const result = { slot: 7, parent: 6, root: 1 };
        const params = { subscription: id + 100, result };
        client.send(JSON.stringify({ jsonrpc: "2.0", method: "slotNotification", params }));
      },
    },
  });
  opened.push(() => server.stop(true));
  const send = (text: string): void => {
    for (const client of clients) client.send(text);
  };
  return {
    asked,
    /** Resolves once the node was asked for so much. */
    until: (requests: number) =>
      new Promise<void>((resolve) => {
        wasAsked = () => {
          if (asked.length >= requests) resolve();
        };
        wasAsked();
      }),
    how,
    url: Redacted.make(new URL(`ws://127.0.0.1:${server.port}`)),
    send,
    /** Tells of an account with these bytes, or of whatever `value` is. */
    tell: (value: unknown) => {
      const result = { context: { slot: 5 }, value };
      const params = { subscription: 101, result };
      send(JSON.stringify({ jsonrpc: "2.0", method: "accountNotification", params }));
    },
    dies: () => {
      for (const client of clients) client.close();
    },
  };
};

const accountOf = (bytes: Uint8Array) => ({
  lamports: 5,
  owner: OWNER,
  executable: false,
  data: [encodeBase64(bytes), "base64"],
  rentEpoch: 0,
  space: bytes.length,
});

/** Hears the news of the watched account at an address until the test ends. */
const listening = (url: Redacted.Redacted<URL>) => {
  const heard: Array<AccountTold> = [];
  let changed = (): void => {};
  const controller = new AbortController();
  const ended = Effect.runPromiseExit(
    AccountNews.use((news) =>
      Stream.runForEach(news.of(WATCHED), (told) =>
        Effect.sync(() => {
          heard.push(told);
          changed();
        }),
      ),
    ).pipe(Effect.provide(Layer.merge(accountNewsWebSocket(url), Logger.layer([])))),
    { signal: controller.signal },
  );
  opened.push(() => {
    controller.abort();
    return ended;
  });
  return {
    heard,
    kinds: () => heard.map(({ kind }) => kind),
    until: (holds: () => boolean) =>
      new Promise<void>((resolve) => {
        changed = () => {
          if (holds()) resolve();
        };
        changed();
      }),
  };
};

describe("AccountNews: accountSubscribe", () => {
  test("it subscribes at finalized, and says once it is taken and once the node sends anything", async () => {
    const node = fakeNode();
    const { kinds, until } = listening(node.url);
    await until(() => kinds().length === 2);
    await node.until(3);
    expect(kinds()).toEqual(["taken", "pushed"]);
    expect(node.asked[0]).toMatchObject({
      method: "accountSubscribe",
      params: [WATCHED, { encoding: "base64", commitment: "finalized" }],
    });
    // One slot is enough: a node sends two or three a second, and some bill for them.
    expect(node.asked.map(({ method }) => method)).toEqual([
      "accountSubscribe",
      "slotSubscribe",
      "slotUnsubscribe",
    ]);
  });

  test("a change comes with the account's bytes, and one that cannot be read without", async () => {
    const node = fakeNode();
    const { heard, kinds, until } = listening(node.url);
    await until(() => kinds().length === 2);
    node.tell(accountOf(new Uint8Array([1, 2, 3])));
    for (const lie of [null, 7, { ...accountOf(new Uint8Array(3)), space: 4 }]) node.tell(lie);
    node.send('{"method":"accountNotification"}');
    for (const garbage of ["", "{", "accountNotification", '{"method":"slotNotification"}'])
      node.send(garbage);
    node.tell(accountOf(new Uint8Array([4])));
    await until(() => kinds().length === 8);
    const account = { address: WATCHED, owner: OWNER, lamports: 5n, executable: false };
    expect(heard.slice(2)).toEqual([
      { kind: "changed", account: { ...account, data: new Uint8Array([1, 2, 3]) } },
      ...Array.from({ length: 4 }, () => ({ kind: "changed" as const, account: null })),
      { kind: "changed", account: { ...account, data: new Uint8Array([4]) } },
    ]);
  });

  test("a node that takes the subscription and sends nothing is taken and no more, until it tells", async () => {
    const node = fakeNode();
    node.how.isSilent = true;
    const { kinds, until } = listening(node.url);
    await until(() => kinds().length === 1);
    await node.until(2);
    expect(kinds()).toEqual(["taken"]);
    node.tell(accountOf(new Uint8Array([1])));
    await until(() => kinds().length === 3);
    expect(kinds()).toEqual(["taken", "pushed", "changed"]);
  });

  test("a connection that dies is told, and the next one is taken and heard anew", async () => {
    const node = fakeNode();
    const { kinds, until } = listening(node.url);
    await until(() => kinds().length === 2);
    node.dies();
    await until(() => kinds().length === 5);
    node.tell(accountOf(new Uint8Array([1])));
    await until(() => kinds().length === 6);
    expect(kinds()).toEqual(["taken", "pushed", "lost", "taken", "pushed", "changed"]);
  });

  test("the local ledger tells of a finalized change", async () => {
    const { ledger, webSocketUrl, stop } = startLedger();
    opened.push(stop);
    const { heard, kinds, until } = listening(Redacted.make(new URL(webSocketUrl)));
    await until(() => kinds().includes("pushed"));
    const decoded = decodeWireTransaction(
      signedTransaction({
        payer: LOCAL_FAUCET,
        instructions: [transferLamports(LOCAL_FAUCET.address, WATCHED, 1_000_000n)],
        blockhash: ledger.latestBlockhash().blockhash,
      }),
    );
    if ("malformed" in decoded) throw new Error(decoded.malformed);
    ledger.submit(decoded.value);
    await until(() => kinds().includes("changed"));
    expect(heard.at(-1)).toMatchObject({
      kind: "changed",
      account: { address: WATCHED, lamports: 1_000_000n },
    });
  });
});

/** A source of signals at a node, in virtual time. */
const standingAt = <A>(
  node: ReturnType<typeof fakeNode>,
  steps: (source: {
    /** Lets ten seconds pass, and says how the source stands then. */
    readonly later: Effect.Effect<"live" | "silent" | "lost">;
    /** Lets time pass until the source stands so. */
    readonly until: (word: "live" | "silent") => Effect.Effect<void>;
  }) => Effect.Effect<A>,
): Promise<A> => {
  const source = webSocketSignals({ url: node.url, addresses: [WATCHED], commitment: "finalized" });
  // Messages between the sockets of this process arrive meanwhile.
  const turns = Effect.promise(async () => {
    for (let turn = 0; turn < 40; turn++) await new Promise((done) => setImmediate(done));
  });
  const word = Effect.map(source.standing, ({ isLive, isSilent }) =>
    isLive ? (isSilent ? ("silent" as const) : ("live" as const)) : ("lost" as const),
  );
  const later = turns.pipe(
    Effect.andThen(TestClock.adjust("10 seconds")),
    Effect.andThen(turns),
    Effect.andThen(word),
  );
  const until = (wanted: string) =>
    Effect.asVoid(Effect.repeat(later, { until: (now) => now === wanted }));
  return Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(Stream.runDrain(source.changes));
    const result = yield* steps({ later, until });
    yield* Fiber.interrupt(fiber);
    return result;
  }).pipe(Effect.provide(Layer.merge(patientClock(), Logger.layer([]))), Effect.runPromise);
};

test("a source is silent while its node takes subscriptions and sends not even a slot", async () => {
  const node = fakeNode();
  await standingAt(node, ({ later, until }) =>
    Effect.gen(function* () {
      yield* until("live");
      node.how.isSilent = true;
      yield* until("silent");
      // Its connections end, for want of any message, and no notification comes on the next ones.
      for (let step = 0; step < 12; step++) expect(yield* later).not.toBe("live");
      node.how.isSilent = false;
      yield* until("live");
    }),
  );
});

test("a node that does not tell of slots to anybody is not called silent", async () => {
  const node = fakeNode();
  node.how.refusesSlots = true;
  await standingAt(node, ({ later, until }) =>
    Effect.gen(function* () {
      yield* until("live");
      for (let step = 0; step < 12; step++) expect(yield* later).toBe("live");
    }),
  );
});
