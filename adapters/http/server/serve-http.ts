import { Data, Effect } from "effect";
import type { Connection } from "./exchange.ts";
import type { HttpApp } from "./http-app.ts";
import { routerPath } from "./endpoint.ts";
import { once } from "./once.ts";
import { isChunked, isStillSound } from "../request/request-body.ts";
import type { SentTarget } from "../request/query-string.ts";

/** Where and how to listen. */
export type ListenOptions = {
  /** An IP address or a host name. */
  readonly hostname: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** Whether other processes of this service's user take the same port. Linux then shares out the connections. */
  readonly isShared?: boolean;
  /** Seconds without traffic after which a connection is closed, [1, 255]. */
  readonly idleTimeoutSeconds?: number;
};

/** A listening service. */
export type HttpServer = {
  /** Scheme, host and port, without a slash at its end. */
  readonly url: string;
  readonly port: number;
};

/** A connection without traffic for this long is closed, seconds. */
const IDLE_SECONDS = 15;

/** The address and port could not be taken; `reason` is the system's own code, such as EADDRINUSE. */
export class ListenFailed extends Data.TaggedError("ListenFailed")<{
  readonly hostname: string;
  readonly port: number;
  readonly reason: string;
}> {}

/**
 * The answer to a request whose body comes in chunks. The connection is closed behind it: Bun's parser would answer
 * trailers that come later with a 400, which the client could take for the answer to its next request.
 */
const answerChunked = async (
  app: HttpApp,
  request: Request,
  connection: Connection,
): Promise<Response> => {
  // The parser has answered a request that it refused. This answer is sent to nobody.
  if (!(await isStillSound(request))) return new Response(null, { status: 400 });
  const response = await app.handle(request, connection);
  response.headers.set("connection", "close");
  return response;
};

const listen = (app: HttpApp, options: ListenOptions) => {
  const answer = (request: Request, server: Bun.Server<undefined>, target: SentTarget) => {
    // Asking the socket takes 4% of a short request, and not every request needs its client.
    const address = once(() => server.requestIP(request)?.address ?? null);
    const connection: Connection = {
      get address() {
        return address();
      },
      allowSeconds: (seconds) => server.timeout(request, seconds),
      target,
    };
    return isChunked(request)
      ? answerChunked(app, request, connection)
      : app.handle(request, connection);
  };
  const routeOf = (path: string) => [
    routerPath(path),
    (request: Bun.BunRequest, server: Bun.Server<undefined>) =>
      answer(request, server, { path, params: request.params }),
  ];
  return Bun.serve({
    hostname: options.hostname,
    port: options.port,
    // With a shared port, a forgotten second instance would take half of the requests unnoticed.
    reusePort: options.isShared ?? false,
    development: false,
    idleTimeout: options.idleTimeoutSeconds ?? IDLE_SECONDS,
    // The app counts a body's bytes itself: Bun's own limit answers a 413 without a body.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    // Bun matches these against the bytes of the target. A request's URL does not preserve all of them.
    routes: Object.fromEntries(app.routes.map(({ path }) => routeOf(path))),
    fetch: (request, server) => answer(request, server, null),
    error: () => new Response(null, { status: 500 }),
  });
};

const reasonOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error ? String(error.code) : "unknown";

/** Takes a port and releases it at once. Fails with `ListenFailed` when it cannot be taken. */
export const takePort = (hostname: string, port: number): Effect.Effect<void, ListenFailed> =>
  Effect.tryPromise({
    try: () =>
      Bun.serve({ hostname, port, reusePort: false, fetch: () => new Response() }).stop(true),
    catch: (error) => new ListenFailed({ hostname, port, reason: reasonOf(error) }),
  });

/**
 * Listens until the scope closes, then drains. It accepts no new connections and answers the requests that have begun.
 * A request that still arrives on an open connection is answered, and that connection is closed. Fails with
 * `ListenFailed` when the port is taken.
 */
export const serveHttp = (app: HttpApp, options: ListenOptions) =>
  Effect.acquireRelease(
    Effect.try({
      try: () => listen(app, options),
      catch: (error) => {
        const { hostname, port } = options;
        return new ListenFailed({ hostname, port, reason: reasonOf(error) });
      },
    }),
    (server) =>
      Effect.promise(() => {
        app.drain();
        return server.stop();
      }),
  ).pipe(
    Effect.map((server): HttpServer => {
      const port = server.port ?? options.port;
      const host = options.hostname.includes(":") ? `[${options.hostname}]` : options.hostname;
      return { url: `http://${host}:${port}`, port };
    }),
  );
