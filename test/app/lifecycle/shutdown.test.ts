import { expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { asksAtOnce } from "../../../app/lifecycle/shutdown.ts";

const SHUTDOWN = fileURLToPath(new URL("../../../app/lifecycle/shutdown.ts", import.meta.url));

/** Runs a script that awaits its ending, runs `something`, drains, and prints how it ended. */
const endingAfter = async (something: string, drain = ""): Promise<unknown> => {
  const script = `
    import { Effect } from "effect";
    import { awaitEnding } from ${JSON.stringify(SHUTDOWN)};
    setTimeout(() => { ${something} }, 0);
    const ending = await Effect.runPromise(awaitEnding);
    ${drain}
    console.log(JSON.stringify({ ...ending, cause: String(ending.cause) }));
    process.exit(0);`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "inherit" });
  return JSON.parse(await new Response(child.stdout).text());
};

test("a signal, a throw in a timer and an unhandled rejection all end the process in order", async () => {
  const [signal, thrown, rejected] = await Promise.all([
    endingAfter('process.kill(process.pid, "SIGTERM")'),
    endingAfter('throw new Error("late")'),
    endingAfter('void Promise.reject(new Error("lost"))'),
  ]);
  expect(signal).toMatchObject({ kind: "asked", by: "SIGTERM" });
  expect(thrown).toMatchObject({ kind: "broken", cause: "Error: late" });
  expect(rejected).toMatchObject({ kind: "broken", cause: "Error: lost" });
});

test("a signal that arrives twice within a second ends the process in order, as one does", async () => {
  const again =
    'process.once("SIGINT", () => setTimeout(done, 0)); process.kill(process.pid, "SIGINT");';
  const twice = await endingAfter(
    'process.kill(process.pid, "SIGINT")',
    `await new Promise((done) => { ${again} });`,
  );
  expect(twice).toMatchObject({ kind: "asked", by: "SIGINT" });
});

test("a signal more than a second after the first asks for the end at once", () => {
  const at = asksAtOnce();
  expect([5_000, 5_010, 6_000, 6_001].map(at)).toEqual([false, false, false, true]);
});
