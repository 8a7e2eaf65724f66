import { spawn } from "node:child_process";

/** How a run of tests ended; `failed` names the file of the first failure as far as the output tells it. */
export type Ending =
  | { readonly kind: "passed" }
  | { readonly kind: "failed"; readonly file: string | undefined }
  | { readonly kind: "timed-out" };

/** What runs of tests have in common: variables of their environment, and what ends them all. */
export type Surroundings = {
  readonly env: Readonly<Record<string, string>>;
  readonly stop: AbortSignal;
};

/** The test file whose results stand around the first failure. */
const failedFile = (output: string): string | undefined => {
  const at = output.search(/^\(fail\)|^error:|^# Unhandled error/m);
  const headers = [...output.matchAll(/^(test\/\S+\.ts):$/gm)];
  return (headers.findLast(({ index }) => index < at) ?? headers[0])?.[1];
};

/** Property tests run fewer cases than usual: nearly every mutant falls to the first few. */
const PROPERTY_RUNS = "25";

/**
 * Runs test files in a folder until the first failure, at low priority. After `timeoutMs`, or when `stop` aborts, it
 * ends them and everything they have started.
 */
export const runTests = (
  folder: string,
  files: ReadonlyArray<string>,
  timeoutMs: number,
  { env, stop }: Surroundings,
): Promise<Ending> => {
  const bun = [process.execPath, "test", "--bail", "--timeout", "60000"];
  const args = ["-n", "10", ...bun, ...files.map((file) => `./${file}`)];
  // A group of its own, so that what the tests have started ends with them.
  const child = spawn("nice", args, {
    cwd: folder,
    detached: true,
    env: { FC_NUM_RUNS: PROPERTY_RUNS, ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
  const endGroup = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // Nothing of the group is left.
    }
  };
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    endGroup();
  }, timeoutMs);
  stop.addEventListener("abort", endGroup);
  const ended = Promise.withResolvers<Ending>();
  child.on("error", ended.reject);
  child.on("close", (code) => {
    clearTimeout(timer);
    stop.removeEventListener("abort", endGroup);
    endGroup();
    if (stop.aborted) ended.reject(new Error("stopped"));
    else if (isLate) ended.resolve({ kind: "timed-out" });
    else if (code === 0) ended.resolve({ kind: "passed" });
    else ended.resolve({ kind: "failed", file: failedFile(output) });
  });
  return ended.promise;
};
