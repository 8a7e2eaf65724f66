/**
 * An address that stays the same and passes requests on to whatever stands behind it, or answers 502 while nothing
 * does.
 */
export const startGate = () => {
  let target: string | null = null;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch: async (request) => {
      if (target === null) return new Response("nothing is behind it", { status: 502 });
      const { pathname, search } = new URL(request.url);
      const answer = await fetch(new URL(`${pathname}${search}`, target), {
        method: request.method,
        headers: request.headers,
        ...(request.method === "GET" ? {} : { body: await request.arrayBuffer() }),
      });
      const headers = new Headers(answer.headers);
      // The body is decoded by now.
      for (const name of ["content-encoding", "content-length", "transfer-encoding"])
        headers.delete(name);
      return new Response(answer.body, { status: answer.status, headers });
    },
  });
  return {
    url: server.url.origin,
    /** Puts an address in its place, without a path; null takes it away. */
    passTo: (url: string | null) => {
      target = url;
    },
    stop: () => server.stop(true),
  };
};
