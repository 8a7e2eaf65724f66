import type { ServerWebSocket } from "bun";
import type { LocalLedger } from "../runtime/ledger.ts";
import { jsonRpc } from "./json-rpc.ts";
import { rpcMethods } from "./methods/methods.ts";
import { slotEnds } from "./subscriptions/slot-ends.ts";
import { subscriptions } from "./subscriptions/subscriptions.ts";

/** Where the ledger listens. Clients expect two ports; each of them serves HTTP and WebSocket. */
export type ServerOptions = {
  readonly hostname: string;
  /** 0 takes a free port, and another free port for WebSocket. */
  readonly port: number;
  /** WebSocket port; `port` + 1 by default. */
  readonly webSocketPort?: number;
};

/** A running server. */
export type LedgerServer = {
  readonly port: number;
  readonly webSocketPort: number;
  readonly stop: () => Promise<void>;
};

type Connection = {
  answer: (text: string) => ReadonlyArray<string> | undefined;
  close: () => void;
};

/** Room for a batch of a hundred transactions. */
const MAX_REQUEST_BYTES = 1024 * 1024;
/** Characters; a longer answer is sent piece by piece. */
const SHORT_ANSWER = 1_000_000;

const CORS = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "POST, GET, OPTIONS",
  "access-control-allow-headers": "*",
  "access-control-max-age": "86400",
};

/** A URL whose path is `/health`. Not parsed as a URL: a malformed Host header makes `request.url` malformed too. */
const HEALTH = /^(?:https?:\/\/[^/]*)?\/health(?:\?|$)/;

/** One string when the answer is short, a stream when it is long: a long answer is never held twice. */
const bodyOf = (pieces: ReadonlyArray<string>): string | ReadableStream<Uint8Array> => {
  if (pieces.reduce((length, piece) => length + piece.length, 0) <= SHORT_ANSWER)
    return pieces.join("");
  const encoder = new TextEncoder();
  const left = pieces.toReversed();
  return new ReadableStream({
    pull: (controller) => {
      const piece = left.pop();
      if (piece === undefined) controller.close();
      else controller.enqueue(encoder.encode(piece));
    },
  });
};

/** Serves Solana's JSON-RPC over HTTP and its subscriptions over WebSocket. @throws Error when a port is taken. */
export const serveLedger = (ledger: LocalLedger, options: ServerOptions): LedgerServer => {
  const ends = slotEnds(ledger);
  let holds: Array<Promise<void>> = [];
  const methods = rpcMethods(ledger, { holdUntilConfirmed: () => void holds.push(ends.next()) });
  const answerHttp = jsonRpc((name) => methods.get(name));
  const feed = subscriptions(ledger);

  const post = async (request: Request): Promise<Response> => {
    const pieces = answerHttp(await request.text());
    // Methods run without a pause, so these are the holds of this request alone.
    const own = holds;
    holds = [];
    await Promise.all(own);
    return pieces === undefined
      ? new Response(null, { status: 204, headers: CORS })
      : new Response(bodyOf(pieces), {
          headers: { ...CORS, "content-type": "application/json" },
        });
  };

  const serve = (port: number) =>
    Bun.serve<Connection>({
      hostname: options.hostname,
      port,
      maxRequestBodySize: MAX_REQUEST_BYTES,
      fetch: (request, server) => {
        const idle = { answer: () => undefined, close: () => undefined };
        if (request.headers.get("upgrade")?.toLowerCase() === "websocket")
          return server.upgrade(request, { data: idle })
            ? undefined
            : new Response("not a WebSocket request\n", { status: 400 });
        if (request.method === "POST") return post(request);
        if (request.method === "OPTIONS") return new Response(null, { status: 204, headers: CORS });
        return HEALTH.test(request.url)
          ? new Response("ok", { headers: CORS })
          : new Response("JSON-RPC: use POST\n", { status: 405, headers: { allow: "POST" } });
      },
      websocket: {
        maxPayloadLength: MAX_REQUEST_BYTES,
        open: (socket: ServerWebSocket<Connection>) => {
          const connection = feed.connect((text) => socket.send(text));
          socket.data.answer = jsonRpc((name) => connection.methods.get(name));
          socket.data.close = connection.close;
        },
        message: (socket, message) => {
          const pieces = socket.data.answer(message.toString());
          if (pieces !== undefined) socket.send(pieces.join(""));
        },
        close: (socket) => socket.data.close(),
      },
    });

  const listen = (port: number, name: string) => {
    try {
      return serve(port);
    } catch (cause) {
      const isTaken = cause instanceof Error && "code" in cause && cause.code === "EADDRINUSE";
      const message = `Port ${port} (${name}) is taken; stop what uses it or set another`;
      throw isTaken ? new Error(message, { cause }) : cause;
    }
  };

  const http = listen(options.port, "LOCAL_LEDGER_PORT");
  const httpPort = http.port ?? options.port;
  try {
    const next = options.port === 0 ? 0 : options.port + 1;
    const name = "the WebSocket's, after LOCAL_LEDGER_PORT";
    const webSocket = listen(options.webSocketPort ?? next, name);
    return {
      port: httpPort,
      webSocketPort: webSocket.port ?? httpPort + 1,
      stop: async () => {
        feed.stop();
        ends.stop();
        await Promise.all([http.stop(true), webSocket.stop(true)]);
      },
    };
  } catch (cause) {
    feed.stop();
    ends.stop();
    void http.stop(true);
    throw cause;
  }
};
