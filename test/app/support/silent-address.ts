/** An address of this machine at which nothing listens: a port that was free a moment ago. */
export const silentAddress = async (): Promise<string> => {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
  const { port } = server;
  await server.stop(true);
  return `http://127.0.0.1:${port}`;
};
