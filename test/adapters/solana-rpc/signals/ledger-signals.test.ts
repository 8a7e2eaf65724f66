import { afterEach, expect, test } from "bun:test";
import { Effect, Fiber, Layer, Logger, Redacted, Stream } from "effect";
import { TestClock } from "effect/testing";
import {
  ledgerSignalsWebSocket,
  webSocketSignals,
  type WebSocketSource,
} from "../../../../adapters/solana-rpc/signals/ledger-signals-web-socket.ts";
import { transferLamports } from "../../../../adapters/local-ledger/genesis/funding-instructions.ts";
import { LOCAL_FAUCET } from "../../../../adapters/local-ledger/genesis/local-keys.ts";
import { signedTransaction } from "../../../../adapters/local-ledger/genesis/signed-transaction.ts";
import { addressFromBytes } from "../../../../core/domain/address.ts";
import { decodeWireTransaction } from "../../../../core/protocol/transaction/wire-transaction.ts";
import { LedgerSignals, type SignalStanding } from "../../../../ports/ledger/ledger-signals.ts";
import { SILENT_ADDRESS } from "../../../app/support/silent-address.ts";
import { patientClock } from "../../../doubles/patient-clock.ts";
import { startLedger } from "../../local-ledger/ledger-fixture.ts";

const opened: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

const nth = (n: number) => addressFromBytes(new Uint8Array(32).fill(n));

/** A node's WebSocket that records its messages and can drop its clients. */
const socketServer = (port = 0) => {
  const sent: Array<{ readonly method: string; readonly params: unknown }> = [];
  const clients = new Set<Bun.ServerWebSocket>();
  let onSent = (): void => {};
  const server = Bun.serve({
    port,
    hostname: "127.0.0.1",
    fetch: (request, own) =>
      own.upgrade(request) ? undefined : new Response(null, { status: 400 }),
    websocket: {
      open: (client) => void clients.add(client),
      close: (client) => void clients.delete(client),
      message: (_client, message) => {
        sent.push(JSON.parse(String(message)) as (typeof sent)[number]);
        onSent();
      },
    },
  });
  opened.push(() => server.stop(true));
  return {
    sent,
    url: new URL(`ws://127.0.0.1:${server.port}/?api-key=secret`),
    notify: (method: string) => {
      for (const client of clients) client.send(JSON.stringify({ jsonrpc: "2.0", method }));
    },
    drop: () => {
      for (const client of clients) client.close();
    },
    subscribed: (count: number) =>
      new Promise<void>((resolve) => {
        onSent = () => {
          if (sent.filter(({ method }) => method === "logsSubscribe").length >= count) resolve();
        };
        onSent();
      }),
  };
};

/** Listens until the test ends; `next` resolves at the next signal. */
const listening = (source: Omit<WebSocketSource, "commitment">) => {
  let signals = 0;
  let waiting: Array<() => void> = [];
  const controller = new AbortController();
  const run = Effect.runPromiseExit(
    LedgerSignals.use(({ changes }) =>
      Stream.runForEach(changes, () =>
        Effect.sync(() => {
          signals += 1;
          for (const resolve of waiting.splice(0)) resolve();
        }),
      ),
    ).pipe(Effect.provide(ledgerSignalsWebSocket(source))),
    { signal: controller.signal },
  );
  opened.push(() => {
    controller.abort();
    return run;
  });
  return {
    count: () => signals,
    next: () => new Promise<void>((resolve) => void waiting.push(resolve)),
  };
};

test("a connection is a signal, and each notification of logs, and nothing else", async () => {
  const server = socketServer();
  const listener = listening({ url: Redacted.make(server.url), addresses: [nth(1), nth(2)] });
  await listener.next();
  await server.subscribed(2);
  expect(server.sent.filter(({ method }) => method === "logsSubscribe")).toMatchObject([
    { params: [{ mentions: [nth(1)] }, { commitment: "finalized" }] },
    { params: [{ mentions: [nth(2)] }, { commitment: "finalized" }] },
  ]);
  const before = listener.count();
  const next = listener.next();
  server.notify("slotNotification");
  server.notify("logsNotification");
  await next;
  expect(listener.count()).toBe(before + 1);
});

test("it reconnects after a lost connection, and signals that", async () => {
  const server = socketServer();
  const listener = listening({ url: Redacted.make(server.url), addresses: [nth(1)] });
  await listener.next();
  await server.subscribed(1);
  const again = listener.next();
  server.drop();
  await again;
  await server.subscribed(2);
});

test("the local ledger signals a transaction that names the address", async () => {
  const { ledger, webSocketUrl, stop } = startLedger();
  opened.push(stop);
  const listener = listening({ url: Redacted.make(new URL(webSocketUrl)), addresses: [nth(9)] });
  await listener.next();
  const connected = listener.count();
  // When the first transaction lands, the ledger may not have the subscription yet.
  for (let lamports = 1_000_000n; listener.count() === connected; lamports++) {
    const decoded = decodeWireTransaction(
      signedTransaction({
        payer: LOCAL_FAUCET,
        instructions: [transferLamports(LOCAL_FAUCET.address, nth(9), lamports)],
        blockhash: ledger.latestBlockhash().blockhash,
      }),
    );
    if ("malformed" in decoded) throw new Error(decoded.malformed);
    ledger.submit(decoded.value);
    await Promise.race([listener.next(), Bun.sleep(50)]);
  }
  expect(listener.count()).toBeGreaterThan(connected);
});

/** Reads a source in virtual time, and lets pauses pass until it stands as `is` says. */
const stood = (
  source: ReturnType<typeof webSocketSignals>,
  is: (now: SignalStanding) => boolean,
) => {
  const warnings: Array<string> = [];
  const run = Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(Stream.runDrain(source.changes));
    for (;;) {
      const now = yield* source.standing;
      if (is(now)) {
        yield* Fiber.interrupt(fiber);
        return { now, warnings, after: yield* source.standing };
      }
      yield* TestClock.adjust("1 second");
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)));
    }
  });
  const lines = Logger.layer([
    Logger.map(Logger.formatLogFmt, (line) => {
      if (line.includes("level=WARN")) warnings.push(line);
    }),
  ]);
  return Effect.runPromise(Effect.provide(run, Layer.merge(lines, patientClock())));
};

const sourceAt = (url: URL) =>
  webSocketSignals({
    url: Redacted.make(url),
    addresses: [nth(1), nth(2)],
    commitment: "finalized",
  });

test("connections that no node takes are counted, and the third in a row is a warning, once", async () => {
  const dead = new URL(`${SILENT_ADDRESS.replace("http", "ws")}/?api-key=secret`);
  const { now, warnings } = await stood(sourceAt(dead), ({ failures }) => failures >= 5);
  expect(now.isLive).toBe(false);
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain("Check SOLANA_WS_URL");
  expect(warnings[0]).not.toContain("secret");
});

test("a node that accepts the connection and takes no subscription is dead after 30 s", async () => {
  const server = socketServer();
  const { now } = await stood(sourceAt(server.url), ({ failures }) => failures > 0);
  expect(now.isLive).toBe(false);
});

test("a source is live once the node has taken every subscription, and not after its end", async () => {
  const { webSocketUrl, stop } = startLedger();
  opened.push(stop);
  const { now, after, warnings } = await stood(
    sourceAt(new URL(webSocketUrl)),
    ({ isLive }) => isLive,
  );
  expect([now.failures, after.isLive, warnings]).toEqual([0, false, []]);
});
