import { afterAll, describe, expect, test } from "bun:test";
import { Effect, Result } from "effect";
import { archivePeersHttp, logSourceHttp } from "../../../adapters/log-http/log-http.ts";
import { address } from "../../../core/domain/address.ts";
import { MAX_PACKET_BYTES } from "../../../core/protocol/evidence/evidence-packet.ts";
import { ArchivePeers } from "../../../ports/index/archived-rows.ts";
import { LogSource, MAX_TILE_BYTES } from "../../../ports/log/log-source.ts";
import { SILENT_ADDRESS } from "../../app/support/silent-address.ts";

describe("archive peers http", () => {
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
});

describe("log source http", () => {
  const asked: Array<string> = [];

  const server = Bun.serve({
    port: 0,
    fetch: (request) => {
      const path = new URL(request.url).pathname;
      asked.push(path);
      if (path.startsWith("/long")) return new Response(new Uint8Array(MAX_TILE_BYTES + 1));
      if (path.startsWith("/whole")) return new Response(new Uint8Array(MAX_TILE_BYTES));
      if (path.startsWith("/none")) return new Response("no", { status: 404 });
      if (path.startsWith("/moved")) return Response.redirect("/whole", 302);
      if (path.startsWith("/broken")) return new Response("no", { status: 500 });
      return new Response(Uint8Array.of(0, 1, 7));
    },
  });

  afterAll(() => server.stop(true));

  const read = (path: string, index = 0, width = 1) =>
    Effect.runPromise(
      Effect.provide(
        LogSource.use(({ tile }) =>
          Effect.result(tile(new URL(path, server.url), { level: 0, index, width })),
        ),
        logSourceHttp,
      ),
    );

  test("a tile is asked for by its path below the log's address", async () => {
    expect(Result.getOrThrow(await read("/"))).toEqual(Buffer.from([0, 1, 7]));
    await read("/a/b/", 1_234_067, 256);
    expect(asked).toEqual(["/log/tile/0/000.p/1", "/a/b/log/tile/0/x001/x234/067"]);
  });

  test("a tile that is not there is null", async () => {
    expect(Result.getOrThrow(await read("/none"))).toBeNull();
  });

  test("the longest tile is read, a longer one, a redirect and an error are failures", async () => {
    expect(Result.getOrThrow(await read("/whole"))?.length).toBe(MAX_TILE_BYTES);
    for (const path of ["/long", "/moved", "/broken"])
      expect(Result.isFailure(await read(path))).toBe(true);
  });

  test("a log that does not listen is a failure", async () => {
    const url = new URL(SILENT_ADDRESS);
    const exit = await Effect.runPromise(
      Effect.provide(
        LogSource.use(({ tile }) => Effect.flip(tile(url, { level: 0, index: 0, width: 1 }))),
        logSourceHttp,
      ),
    );
    expect(exit._tag).toBe("LogUnavailable");
  });
});
