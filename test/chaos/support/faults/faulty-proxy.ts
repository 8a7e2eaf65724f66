import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type RpcCall, type RpcAnswer, answerText } from "../../../world/rpc-answer.ts";

/** Faults of the line between a service and its node. */
export const FAULTS = [
  "timeout",
  "reset",
  "rate_limited",
  "server_error",
  "truncated",
  "html",
  "wrong_id",
  "oversize",
] as const;
export type Fault = (typeof FAULTS)[number];

const OVERSIZE = Buffer.alloc(20 * 1024 * 1024, " ");

const poolOf = ({ method }: RpcCall): "bulk" | "single" =>
  method === "getProgramAccounts" ? "bulk" : "single";

const read = async (request: IncomingMessage): Promise<RpcCall> => {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return JSON.parse(text) as RpcCall;
};

/**
 * A node behind a failing line. `faultOf` chooses the fault of each request, null for none. Requests are counted per
 * pool.
 */
export const faultyProxy = async (options: {
  readonly answer: (call: RpcCall) => RpcAnswer;
  readonly faultOf: (call: RpcCall) => Fault | null;
}) => {
  const hung = new Set<ServerResponse>();
  const counts = { asked: 0, faults: 0 };
  const inFlight = { bulk: 0, single: 0 };
  const mostInFlight = { bulk: 0, single: 0 };

  const fail = (fault: Fault, body: string, id: number, response: ServerResponse): void => {
    const json = { "content-type": "application/json" };
    switch (fault) {
      case "timeout":
        hung.add(response);
        return;
      case "reset":
        response.socket?.destroy();
        return;
      case "rate_limited":
        response.writeHead(429, { "retry-after": "1" }).end("slow down");
        return;
      case "server_error":
        response.writeHead(503).end("unavailable");
        return;
      case "truncated":
        response.writeHead(200, json).end(body.slice(0, Math.floor(body.length / 2)));
        return;
      case "html":
        response.writeHead(200, { "content-type": "text/html" }).end("<html>Bad gateway</html>");
        return;
      case "wrong_id":
        response.writeHead(200, json).end(body.replace(/"id":\d+\}$/, `"id":${id + 1}}`));
        return;
      case "oversize":
        response.writeHead(200, json).end(OVERSIZE);
    }
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const call = await read(request);
    if (Array.isArray(call)) {
      response.writeHead(400).end("This node takes no batches.");
      return;
    }
    const pool = poolOf(call);
    counts.asked += 1;
    inFlight[pool] += 1;
    mostInFlight[pool] = Math.max(mostInFlight[pool], inFlight[pool]);
    response.once("close", () => (inFlight[pool] -= 1));
    const body = answerText(call.id, options.answer(call));
    const fault = options.faultOf(call);
    if (fault === null) {
      response.writeHead(200, { "content-type": "application/json" }).end(body);
      return;
    }
    counts.faults += 1;
    fail(fault, body, call.id, response);
  };
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const release = (): void => {
    for (const response of hung) response.socket?.destroy();
    hung.clear();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    inFlight: inFlight as Readonly<typeof inFlight>,
    mostInFlight,
    /** Ends the requests that hang. */
    release,
    [Symbol.dispose]: () => {
      release();
      server.closeAllConnections();
      server.close();
    },
  };
};
