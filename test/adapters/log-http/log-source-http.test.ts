import { afterAll, expect, test } from "bun:test";
import { Effect, Result } from "effect";
import { logSourceHttp } from "../../../adapters/log-http/log-http.ts";
import { LogSource, MAX_BUNDLE_BYTES } from "../../../ports/log/log-source.ts";
import { SILENT_ADDRESS } from "../../app/support/silent-address.ts";

const asked: Array<string> = [];
const server = Bun.serve({
  port: 0,
  fetch: (request) => {
    const path = new URL(request.url).pathname;
    asked.push(path);
    if (path.startsWith("/long")) return new Response(new Uint8Array(MAX_BUNDLE_BYTES + 1));
    if (path.startsWith("/whole")) return new Response(new Uint8Array(MAX_BUNDLE_BYTES));
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
      LogSource.use(({ entries }) =>
        Effect.result(entries(new URL(path, server.url), index, width)),
      ),
      logSourceHttp,
    ),
  );

test("a bundle is asked for by its path below the log's address", async () => {
  expect(Result.getOrThrow(await read("/"))).toEqual(Buffer.from([0, 1, 7]));
  await read("/a/b/", 1_234_067, 256);
  expect(asked).toEqual(["/log/tile/entries/000.p/1", "/a/b/log/tile/entries/x001/x234/067"]);
});

test("a bundle that is not there is null", async () => {
  expect(Result.getOrThrow(await read("/none"))).toBeNull();
});

test("the longest bundle is read, a longer one, a redirect and an error are failures", async () => {
  expect(Result.getOrThrow(await read("/whole"))?.length).toBe(MAX_BUNDLE_BYTES);
  for (const path of ["/long", "/moved", "/broken"])
    expect(Result.isFailure(await read(path))).toBe(true);
});

test("a log that does not listen is a failure", async () => {
  const url = new URL(SILENT_ADDRESS);
  const exit = await Effect.runPromise(
    Effect.provide(
      LogSource.use(({ entries }) => Effect.flip(entries(url, 0, 1))),
      logSourceHttp,
    ),
  );
  expect(exit._tag).toBe("LogUnavailable");
});
