import { readFile } from "node:fs/promises";
import { Duration, Effect, Schedule } from "effect";

/** The process, a shell and `bun start` lie between npx and here. More distant ancestors do not matter. */
const MAX_GENERATIONS = 4;
const LOOK_AGAIN = Schedule.spaced(Duration.millis(500));

const readOrEmpty = (path: string): Promise<string> => readFile(path, "utf8").catch(() => "");

/** The parent of a process, 0 when it is gone or there is no procfs (proc(5), `stat`, field 4). */
const parentOf = async (pid: number): Promise<number> => {
  const stat = await readOrEmpty(`/proc/${pid}/stat`);
  // The command's name is in parentheses and may itself hold spaces and parentheses.
  const [, parent = "0"] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return Number(parent);
};

/** The ancestors of this process from its parent up to npx; empty without npx. */
const ancestorsToNpx = async (): Promise<ReadonlyArray<number>> => {
  const ancestors: Array<number> = [];
  for (let pid = process.ppid; pid > 1 && ancestors.length < MAX_GENERATIONS;) {
    ancestors.push(pid);
    if (/^(npm exec|npx)\b/.test(await readOrEmpty(`/proc/${pid}/cmdline`))) return ancestors;
    pid = await parentOf(pid);
  }
  return [];
};

const isUnbroken = async (ancestors: ReadonlyArray<number>): Promise<boolean> => {
  const parents = await Promise.all([process.pid, ...ancestors.slice(0, -1)].map(parentOf));
  return parents.every((parent, i) => parent === ancestors[i]);
};

/**
 * Finds the npx that started this process and returns an effect that completes when it has ended; without one that effect never
 * completes. npx runs its command in a shell that does not forward signals. Ending npx would leave the process running unnoticed.
 * Checks twice a second, and only on Linux, where the check is cheap.
 */
export const watchNpx: Effect.Effect<Effect.Effect<void>> = Effect.gen(function* () {
  const ancestors = yield* Effect.promise(ancestorsToNpx);
  if (ancestors.length === 0) return Effect.never;
  return Effect.asVoid(
    Effect.repeat(
      Effect.promise(() => isUnbroken(ancestors)),
      { schedule: LOOK_AGAIN, while: (unbroken) => unbroken },
    ),
  );
});
