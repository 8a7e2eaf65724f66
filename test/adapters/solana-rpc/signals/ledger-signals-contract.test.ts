import { Redacted } from "effect";
import { ledgerSignalsWebSocket } from "../../../../adapters/solana-rpc/signals/ledger-signals-web-socket.ts";
import { ledgerSignalsContract, WATCHED } from "../../../contracts/ledger-signals.ts";

type Request = { readonly id: number; readonly method: string };

/** A node's WebSocket that answers `logsSubscribe` with the request's id as the subscription's number. */
const startSocketServer = () => {
  const clients = new Set<Bun.ServerWebSocket>();
  let subscriptions = 0;
  let pongs = 0;
  let changed = (): void => {};
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request, own) =>
      own.upgrade(request) ? undefined : new Response(null, { status: 400 }),
    websocket: {
      open: (client) => void clients.add(client),
      close: (client) => {
        clients.delete(client);
        changed();
      },
      pong: () => {
        pongs += 1;
        changed();
      },
      message: (client, message) => {
        const { id, method } = JSON.parse(String(message)) as Request;
        if (method !== "logsSubscribe") return;
        client.send(JSON.stringify({ jsonrpc: "2.0", id, result: id }));
        subscriptions += 1;
        changed();
      },
    },
  });
  const push = (text: string): void => {
    for (const client of clients) client.send(text);
  };
  const until = (holds: () => boolean) =>
    new Promise<void>((resolve) => {
      changed = () => {
        if (holds()) resolve();
      };
      changed();
    });
  return {
    url: new URL(`ws://127.0.0.1:${server.port}`),
    push,
    subscribed: (count: number) => until(() => subscriptions >= count * WATCHED.length),
    drop: () => {
      for (const client of clients) client.close();
    },
    handled: () => {
      const before = pongs;
      for (const client of clients) client.ping();
      return until(() => pongs > before);
    },
    left: () => until(() => clients.size === 0),
    stop: () => server.stop(true),
  };
};

ledgerSignalsContract("logsSubscribe", () => {
  const server = startSocketServer();
  return Promise.resolve({
    ...server,
    layer: ledgerSignalsWebSocket({ url: Redacted.make(server.url), addresses: WATCHED }),
    tell: ({ signature, slot, names }, failed) => {
      const value = { signature, err: failed ? { InstructionError: [0, "Custom"] } : null };
      const result = { context: { slot: Number(slot) }, value };
      const subscription = WATCHED.indexOf(names) + 1;
      const params = { subscription, result };
      server.push(JSON.stringify({ jsonrpc: "2.0", method: "logsNotification", params }));
    },
    pushGarbage: () => {
      for (const text of ["", "{", '{"method":"logsNotification"}', "logsNotification \u0000"])
        server.push(text);
    },
  });
});
