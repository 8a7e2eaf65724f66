import { readFile } from "node:fs/promises";
import process from "node:process";

/** The process, a shell and `bun start` lie between npx and here. More distant ancestors do not matter. */
const MAX_GENERATIONS = 4;
const LOOK_AGAIN_MS = 500;

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
 * Finds the npx that started this process and calls `end` once it has ended; without one it is never called. npx runs
 * its command in a shell that does not forward signals. Ending npx would leave the process running unnoticed. Checks
 * twice a second, and only on Linux, where the check is cheap. It keeps no process running.
 */
export const onNpxEnd = async (end: () => void): Promise<void> => {
  const ancestors = await ancestorsToNpx();
  if (ancestors.length === 0) return;
  const look = (): void => {
    const timer = setTimeout(() => {
      void isUnbroken(ancestors).then((unbroken) => (unbroken ? look() : end()));
    }, LOOK_AGAIN_MS);
    timer.unref();
  };
  look();
};

/** Asks this process to end, as SIGTERM does, once the npx that started it has ended. */
export const endWithNpx = (): Promise<void> => onNpxEnd(() => process.kill(process.pid, "SIGTERM"));
