/** A balancer before several services: each request goes to the next of them. */
export const roundRobin = (urls: ReadonlyArray<string>) => {
  let turn = 0;
  const asked = urls.map(() => 0);
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: async (request) => {
      const at = turn++ % urls.length;
      asked[at] = (asked[at] ?? 0) + 1;
      const { pathname, search } = new URL(request.url);
      const answer = await fetch(`${urls[at]}${pathname}${search}`, {
        method: request.method,
        headers: request.headers,
        ...(request.method === "GET" ? {} : { body: await request.arrayBuffer() }),
        signal: request.signal,
      });
      const headers = new Headers(answer.headers);
      // The body is decoded by now.
      for (const name of ["content-encoding", "content-length", "transfer-encoding"])
        headers.delete(name);
      return new Response(answer.body, { status: answer.status, headers });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    /** How many requests each service has had. */
    asked: asked as ReadonlyArray<number>,
    stop: () => server.stop(true),
  };
};
