import { afterAll, expect, test } from "bun:test";
import { Effect, Result } from "effect";
import { archivePeersHttp } from "../../../adapters/log-http/log-http.ts";
import { address } from "../../../core/domain/address.ts";
import { MAX_PACKET_BYTES } from "../../../core/protocol/evidence/evidence-packet.ts";
import { ArchivePeers } from "../../../ports/index/archived-rows.ts";

const ESCROW = address("H4QKC5LxLZY7yRzSz39qtenAWWq9npiJe6uZbxS56uoG");
const asked: Array<string> = [];
const NEVER = new Promise<Response>(() => {});
const server = Bun.serve({
  port: 0,
  idleTimeout: 0,
  fetch: (request) => {
    const path = new URL(request.url).pathname;
    asked.push(path);
    if (path.startsWith("/long")) return new Response(new Uint8Array(MAX_PACKET_BYTES + 1));
    if (path.startsWith("/endless"))
      return new Response(
        new ReadableStream({ pull: (body) => body.enqueue(new Uint8Array(16_384)) }),
      );
    if (path.startsWith("/whole")) return new Response(new Uint8Array(MAX_PACKET_BYTES));
    if (path.startsWith("/moved")) return Response.redirect("/whole", 302);
    if (path.startsWith("/slow")) return NEVER;
    const status = Number(/^\/status-(\d+)/.exec(path)?.[1] ?? 200);
    return new Response("{}", { status });
  },
});
afterAll(() => server.stop(true));

const read = (path: string) =>
  Effect.runPromise(
    Effect.gen(function* () {
      const [peer] = yield* ArchivePeers;
      if (peer === undefined) throw new Error("there is no peer");
      expect(peer.name).toBe(server.url.host);
      return yield* Effect.result(peer.packet(ESCROW));
    }).pipe(Effect.provide(archivePeersHttp([new URL(path, server.url)]))),
  );

test("a packet is asked for by the escrow's path below the service's address", async () => {
  expect(Result.getOrThrow(await read("/"))).toEqual(Buffer.from("{}"));
  await read("/a/b/");
  expect(asked).toEqual([`/v1/evidence/${ESCROW}`, `/a/b/v1/evidence/${ESCROW}`]);
});

test("an escrow that a peer does not know, has not seen or cannot show yet is null", async () => {
  for (const status of [404, 409, 410])
    expect(Result.getOrThrow(await read(`/status-${status}`))).toBeNull();
});

test("the longest packet is read; a longer one, a redirect, an error and silence are failures with a reason", async () => {
  expect(Result.getOrThrow(await read("/whole"))?.length).toBe(MAX_PACKET_BYTES);
  const reasons = {
    "/long": `the answer is longer than ${MAX_PACKET_BYTES} bytes`,
    "/endless": `the answer is longer than ${MAX_PACKET_BYTES} bytes`,
    "/moved": "it answered 302",
    "/status-500": "it answered 500",
    "/slow": "it took more than 2000 ms",
  };
  for (const [path, reason] of Object.entries(reasons)) {
    const answer = await read(path);
    expect(Result.isFailure(answer) && answer.failure).toMatchObject({
      _tag: "PeerUnusable",
      reason,
    });
  }
});
