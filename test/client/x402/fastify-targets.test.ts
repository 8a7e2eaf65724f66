import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect } from "node:net";
import { x402HTTPResourceServer } from "@x402/core/server";
import Fastify from "fastify";
import { payFastify } from "../../../client/x402.ts";
import { x402Fixture } from "./x402-fixture.ts";

let x402: Awaited<ReturnType<typeof x402Fixture>>;
// fastify's types lack `useSemicolonDelimiter` under `routerOptions`, where it belongs.
const lenient: object = { useSemicolonDelimiter: true, ignoreDuplicateSlashes: true };
const app = Fastify({ routerOptions: lenient });
let port = 0;
const ran: Array<string> = [];

beforeAll(async () => {
  x402 = await x402Fixture();
  const routes = {
    "GET /quotes": { accepts: x402.offer() },
    "GET /files/premium": { accepts: x402.offer() },
    "GET /by-id/:id": { accepts: x402.offer() },
  };
  payFastify(app, new x402HTTPResourceServer(x402.resources(), routes));
  for (const path of ["/quotes", "/files/:name", "/by-id/:id"])
    app.get(path, (request) => {
      ran.push(request.url);
      return Promise.resolve({ secret: path });
    });
  port = Number(new URL(await app.listen({ port: 0, host: "127.0.0.1" })).port);
}, 60_000);
afterAll(async () => {
  await app.close();
  await x402.stop();
}, 60_000);

/** The status of the answer to a request line, byte for byte as a client can send it. */
const statusOf = (method: string, target: string): Promise<number> =>
  new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect(port, "127.0.0.1", () => {
      socket.write(`${method} ${target} HTTP/1.1\r\nHost: seller\r\nConnection: close\r\n\r\n`);
    });
    socket.on("data", (chunk) => (answer += chunk.toString()));
    socket.on("error", reject);
    socket.on("end", () => {
      resolve(Number(answer.split(" ")[1]));
    });
  });

const TARGETS = [
  ["GET", "/quotes"],
  ["GET", "http://seller/quotes"],
  ["GET", "HTTPS://elsewhere/quotes?symbol=SOL"],
  ["GET", "/quotes;a=1"],
  ["GET", "//quotes"],
  ["GET", "/quot%65s"],
  ["GET", "/quotes#a"],
  ["GET", "http://seller/files/premium"],
  ["GET", "/files/premium;a=1"],
  ["GET", "/files/premiu%6d"],
  ["GET", "http://seller/by-id/7"],
  ["HEAD", "/quotes"],
  ["HEAD", "http://seller/files/premium"],
] as const;

test("whatever form a request's target has, no handler of a paid route runs unpaid", async () => {
  const answers: Array<readonly [string, number]> = [];
  for (const [method, target] of TARGETS)
    answers.push([`${method} ${target}`, await statusOf(method, target)]);
  expect(answers).toEqual(TARGETS.map(([method, target]) => [`${method} ${target}`, 402]));
  expect(ran).toEqual([]);
  expect(await statusOf("GET", "http://seller/files/free")).toBe(200);
}, 60_000);
