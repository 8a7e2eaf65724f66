import { afterAll, expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { Effect } from "effect";
import { logging } from "../../../app/lifecycle/logging.ts";
import { runScript } from "../support/run-script.ts";

const COMMANDS = fileURLToPath(new URL("../../../app/commands/", import.meta.url));
/** Clears the screen, writes another title, colours by a C1 character and turns the direction. */
const HOSTILE = "x\u001b[2J\u001b]0;title\u0007\u009b31m\u202e\r";
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

const contradiction = {
  index: { count: HOSTILE, head: HOSTILE },
  ledger: { count: HOSTILE, head: HOSTILE },
  first_difference: null,
};
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: ({ url, method }) => {
    if (new URL(url).pathname === "/v1/status" && method === "GET")
      return Response.json({ data: { network: { cluster: HOSTILE }, indexer: { contradiction } } });
    return new Response(HOSTILE, { status: 500 });
  },
});
afterAll(() => server.stop(true));

test.each(["sync", "demo", "rebuild-index"])(
  "%s shows what a service would have a terminal do",
  async (name) => {
    const { code, stdout, stderr } = await runScript(`${COMMANDS}${name}.ts`, [
      "--service",
      server.url.origin,
    ]);
    expect(code).toBe(1);
    expect(`${stdout}${stderr}`).not.toMatch(CONTROLS);
    expect(`${stdout}${stderr}`).toInclude("x[U+001B][2J");
  },
  60_000,
);

test("a line of the log for people stays one line, whatever its values hold", () => {
  const lines: Array<string> = [];
  Effect.runSync(
    Effect.logInfo("from outside", { reason: `${HOSTILE}\n12:00:00.000 INFO  released` }).pipe(
      Effect.provide(logging("pretty", "info", (line) => void lines.push(line))),
    ),
  );
  expect(lines).toHaveLength(1);
  expect(lines.join("").trimEnd()).not.toInclude("\n");
  expect(lines.join("")).not.toMatch(CONTROLS);
});
