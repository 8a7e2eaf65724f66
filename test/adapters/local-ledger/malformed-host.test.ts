import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { startLedger } from "./ledger-fixture.ts";

let ledger: ReturnType<typeof startLedger>;
beforeAll(() => {
  ledger = startLedger();
});
afterAll(() => ledger.stop());

/** The status line that answers a GET of `path` with this Host header. */
const statusLine = (path: string, host: string): Promise<string> => {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect({ host: "127.0.0.1", port: Number(new URL(ledger.url).port) });
  let answer = "";
  socket.on("data", (data) => {
    answer += data.toString();
  });
  socket.on("end", () => resolve(answer.split("\r\n")[0] ?? ""));
  socket.on("error", reject);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  return promise;
};

test.each(["127.0.0.1", "a:b:c", "[", "%", "a b", "localhost:99999", ""])(
  "a Host header of %j does not change what a path answers",
  async (host) => {
    expect(await statusLine("/health", host)).toBe("HTTP/1.1 200 OK");
    expect(await statusLine("/health?from=probe", host)).toBe("HTTP/1.1 200 OK");
    expect(await statusLine("/other/health", host)).toBe("HTTP/1.1 405 Method Not Allowed");
  },
);
