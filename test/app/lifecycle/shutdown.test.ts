import { expect, test } from "bun:test";
import { fileURLToPath } from "node:url";

const SHUTDOWN = fileURLToPath(new URL("../../../app/lifecycle/shutdown.ts", import.meta.url));

/** Runs a script that awaits its ending, runs `something`, and prints how it ended. */
const endingAfter = async (something: string): Promise<unknown> => {
  const script = `
    import { Effect } from "effect";
    import { awaitEnding } from ${JSON.stringify(SHUTDOWN)};
    setTimeout(() => { ${something} }, 0);
    const ending = await Effect.runPromise(awaitEnding);
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
