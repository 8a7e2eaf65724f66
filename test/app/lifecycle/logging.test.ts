import { expect, test } from "bun:test";
import { Effect } from "effect";
import { logging, warningsAsLines } from "../../../app/lifecycle/logging.ts";

test("what a library warns of on the console is a log line while the service runs, and the console's own afterwards", async () => {
  const { warn } = console;
  const lines: Array<string> = [];
  const serve = Effect.gen(function* () {
    yield* warningsAsLines;
    console.warn('bun:sql LISTEN "x" failed, retrying:', new Error("Failed to connect"));
  });
  await Effect.runPromise(
    serve.pipe(
      Effect.scoped,
      Effect.annotateLogs({ worker: 2 }),
      Effect.provide(logging("json", "info", (line) => void lines.push(line))),
    ),
  );
  expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
    {
      time: expect.any(String),
      level: "warn",
      message: 'bun:sql LISTEN "x" failed, retrying: "Error: Failed to connect"',
      worker: 2,
    },
  ]);
  expect(console.warn).toBe(warn);
});
