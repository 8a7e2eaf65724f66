// Receives settlement events and checks who sent them:
//   WEBHOOK_SECRET=whsec_... bun examples/webhook-receiver.ts
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

const secret = Buffer.from((process.env["WEBHOOK_SECRET"] ?? "").slice("whsec_".length), "base64");
const seen = new Set<string>(); // Keep it, and what you make of the events, where a restart does not lose it.

const answer = async (request: IncomingMessage, response: ServerResponse) => {
  const body = Buffer.concat(await Array.fromAsync(request));
  const header = (name: string) => String(request.headers[`webhook-${name}`] ?? "");
  const signed = createHmac("sha256", secret)
    .update(`${header("id")}.${header("timestamp")}.`)
    .update(body);
  const expected = Buffer.from(`v1,${signed.digest("base64")}`);
  const given = header("signature")
    .split(" ")
    .map((one) => Buffer.from(one));
  const isSigned = given.some(
    (one) => one.length === expected.length && timingSafeEqual(one, expected),
  );
  const isNow = Math.abs(Date.now() / 1000 - Number(header("timestamp"))) < 300;
  if (isSigned && isNow && !seen.has(header("id"))) console.log(body.toString());
  if (isSigned && isNow) seen.add(header("id"));
  response.writeHead(isSigned && isNow ? 204 : 401).end();
};
const server = createServer((request, response) => void answer(request, response));
server.listen(Number(process.env["PORT"] ?? 4000), "127.0.0.1", () =>
  console.log(JSON.stringify(server.address())),
);
