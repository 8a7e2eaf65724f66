import { readFile } from "node:fs/promises";
import { Duration, Effect, Schedule } from "effect";

/** Between it and this process lie a shell and `bun start`; what is further away is another matter. */
const MAX_GENERATIONS = 4;
const LOOK_AGAIN = Schedule.spaced(Duration.millis(500));

const readOrEmpty = (path: string): Promise<string> => readFile(path, "utf8").catch(() => "");

/** The parent of a process, 0 when it is gone or there is no procfs (proc(5), `stat`, field 4). */
const parentOf = async (pid: number): Promise<number> => {
  const stat = await readOrEmpty(`/proc/${pid}/stat`);
  // The command's name, in parentheses, may itself hold spaces and parentheses.
  const [, parent = "0"] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return Number(parent);
};

/** This process's ancestors from its parent up to npx, empty when npx is not among them. */
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
 * Returns when the npx that this process was started through has ended; never, where there is none.
 * npx runs its command below a shell that passes no signal on, so that whoever ends npx would leave a
 * service behind that goes on unseen. Looks twice a second, and only on Linux, where looking is cheap.
 */
export const npxEnded: Effect.Effect<void> = Effect.gen(function* () {
  const ancestors = yield* Effect.promise(ancestorsToNpx);
  if (ancestors.length === 0) return yield* Effect.never;
  yield* Effect.repeat(
    Effect.promise(() => isUnbroken(ancestors)),
    { schedule: LOOK_AGAIN, while: (unbroken) => unbroken },
  );
});
