import { afterAll, expect, test } from "bun:test";
import { Effect, Result } from "effect";
import { logSourceHttp } from "../../../adapters/log-http/log-http.ts";
import { LogSource, MAX_TILE_BYTES } from "../../../ports/log/log-source.ts";
import { SILENT_ADDRESS } from "../../app/support/silent-address.ts";

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
