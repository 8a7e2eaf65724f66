import { Effect } from "effect";
import { ListenFailed } from "../../adapters/http/server/serve-http.ts";
import { SERVICE_NAME } from "../../adapters/http/openapi/service-version.ts";

const ANSWER_MS = 2000;

const codeOf = (cause: unknown): string =>
  cause instanceof Error && "code" in cause ? String(cause.code) : "unknown";

/** Takes a port and releases it at once. Fails with `ListenFailed` when it cannot be taken. */
export const takePort = (hostname: string, port: number): Effect.Effect<void, ListenFailed> =>
  Effect.tryPromise({
    try: () =>
      Bun.serve({ hostname, port, reusePort: false, fetch: () => new Response() }).stop(true),
    catch: (cause) => new ListenFailed({ hostname, port, reason: codeOf(cause) }),
  });

/** Whether a service of this kind answers there. */
const answersAsService = (hostname: string, port: number): Effect.Effect<boolean> =>
  Effect.promise(async (signal) => {
    try {
      const host = hostname.includes(":") ? `[${hostname}]` : hostname;
      const limit = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
      const answer = await fetch(`http://${host}:${port}/health`, { signal: limit });
      return ((await answer.json()) as { readonly service?: unknown }).service === SERVICE_NAME;
    } catch {
      return false;
    }
  });

/** Whether the service can listen on the port, or already listens there. */
export const checkPort = Effect.fnUntraced(function* (host: string, port: number) {
  if (port === 0) return "any free one";
  return yield* takePort(host, port).pipe(
    Effect.as(`${port} on ${host} is free`),
    Effect.catchIf(
      ({ reason }) => reason === "EADDRINUSE",
      (taken) =>
        Effect.flatMap(answersAsService(host, port), (isService) =>
          isService
            ? Effect.succeed(`this service runs on ${port} of ${host} already`)
            : Effect.fail(taken),
        ),
    ),
  );
});
