/**
 * An address that stays the same and passes requests on to whatever stands behind it. It answers 502 while nothing does,
 * and also for a request under way when that ends.
 */
export const startGate = () => {
  let target: string | null = null;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url);
      const { method, headers: given } = request;
      const body = method === "GET" ? {} : { body: await request.arrayBuffer() };
      const answer =
        target === null
          ? null
          : await fetch(new URL(`${pathname}${search}`, target), {
              method,
              headers: given,
              ...body,
            }).catch(() => null);
      if (answer === null) return new Response("nothing is behind it", { status: 502 });
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
