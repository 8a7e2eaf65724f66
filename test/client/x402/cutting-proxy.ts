import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** What a client has of a paid answer before its connection drops: the status line, or all but the end of the body. */
export type CutAfter = "the status line" | "a part of the body";

/**
 * A TCP proxy before a seller. It hands on everything, but drops the client's connection in the midst of each of the
 * first `cuts` answers to a request that carries a payment. Such an answer begins once the payment is settled.
 */
export const cuttingProxy = async (seller: string, after: CutAfter, cuts = 1) => {
  const { port } = new URL(seller);
  const open = new Set<Socket>();
  let left = cuts;
  const server = createServer((client) => {
    const upstream = connect(Number(port), "127.0.0.1");
    let request = "";
    let answer = "";
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => open.delete(socket));
    }
    upstream.on("end", () => client.end());
    client.on("close", () => upstream.destroy());
    client.on("data", (bytes) => {
      request += bytes.toString("latin1");
      // One request a connection: a client may send one again by itself when a connection drops that it has used
      // before.
      upstream.write(
        bytes.toString("latin1").replace(/^connection: .*$/im, "connection: close"),
        "latin1",
      );
    });
    upstream.on("data", (bytes) => {
      answer += bytes.toString("latin1");
      if (left === 0 || !/^payment-signature:/im.test(request)) {
        client.write(bytes);
        return;
      }
      const head = answer.indexOf("\r\n\r\n") + 4;
      const end = after === "the status line" ? answer.indexOf("\r\n") + 2 : answer.length - 1;
      if (head < 4 || answer.length < head + 2) return;
      left -= 1;
      client.write(Buffer.from(answer.slice(0, end), "latin1"), () => client.resetAndDestroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** How many answers are still to be cut. */
    left: () => left,
    stop: async () => {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
