import type { Connection, Exchange } from "./exchange.ts";

/** What tells who the client is, and how it reached the service. */
const OF_CLIENT = [
  "x-forwarded-for",
  "x-forwarded-proto",
  "x-forwarded-host",
  "x-request-id",
] as const;

/** Used where a request names no host; links in answers are then of no use to anybody. */
const NOWHERE = "http://localhost";

/** The function that answers another request of the service as if the client of an exchange had sent it: with its address, budgets and request id. */
export const askingFor =
  (
    handle: (request: Request, connection: Connection | undefined) => Promise<Response>,
    originOf: (request: Request, peer: string | null) => string,
  ) =>
  ({ request, connection, requestId }: Exchange, path: string, init: RequestInit) => {
    const headers = new Headers(init.headers);
    for (const name of OF_CLIENT) {
      const value = request.headers.get(name);
      if (value !== null) headers.set(name, value);
    }
    headers.set("x-request-id", requestId);
    const peer = connection?.address ?? null;
    const origin = originOf(request, peer) || NOWHERE;
    return handle(new Request(origin + path, { ...init, headers }), {
      address: peer,
      // The outer request holds the connection.
      allowSeconds: () => {},
    });
  };
