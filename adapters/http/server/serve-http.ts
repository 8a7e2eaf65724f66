import { Data, Effect } from "effect";
import type { HttpApp } from "./http-app.ts";
import { routerPath } from "./endpoint.ts";
import { once } from "./once.ts";
import type { SentTarget } from "../request/sent-target.ts";

/** Where and how to listen. */
export type ListenOptions = {
  /** An IP address or a host name. */
  readonly hostname: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** Seconds without traffic after which a connection is closed, [1, 255]. */
  readonly idleTimeoutSeconds?: number;
};

/** A listening service. */
export type HttpServer = {
  /** Scheme, host and port, without a slash at its end. */
  readonly url: string;
  readonly port: number;
};

/** A connection on which nothing moves for so long is closed, however many of them there are. */
const IDLE_SECONDS = 15;

/** The address and port could not be taken; `reason` is the system's own code, such as EADDRINUSE. */
export class ListenFailed extends Data.TaggedError("ListenFailed")<{
  readonly hostname: string;
  readonly port: number;
  readonly reason: string;
}> {}

const listen = (app: HttpApp, options: ListenOptions) => {
  const answer = (request: Request, server: Bun.Server<undefined>, target: SentTarget) => {
    // Asking the socket takes 4% of a short request, and not every request needs its client.
    const address = once(() => server.requestIP(request)?.address ?? null);
    return app.handle(request, {
      get address() {
        return address();
      },
      allowSeconds: (seconds) => server.timeout(request, seconds),
      target,
    });
  };
  const routeOf = (path: string) => [
    routerPath(path),
    (request: Bun.BunRequest, server: Bun.Server<undefined>) =>
      answer(request, server, { path, params: request.params }),
  ];
  return Bun.serve({
    hostname: options.hostname,
    port: options.port,
    // Shared ports would let a forgotten second instance take half of the requests unseen.
    reusePort: false,
    development: false,
    idleTimeout: options.idleTimeoutSeconds ?? IDLE_SECONDS,
    // The app counts a body's bytes itself: Bun's own limit answers a bare 413 that says nothing.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    // Bun matches these with the target's own bytes, of which a request's URL does not tell everything.
    routes: Object.fromEntries(app.operations.map(({ path }) => routeOf(path))),
    fetch: (request, server) => answer(request, server, null),
    error: () => new Response(null, { status: 500 }),
  });
};

const reasonOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error ? String(error.code) : "unknown";

/**
 * Listens until the scope closes, then drains: no new connections, what has begun is answered, and what
 * still arrives on open connections is answered and its connection closed. Fails with `ListenFailed`
 * when the port is taken.
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
