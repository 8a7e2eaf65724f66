import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Linux's `taskset`, if installed. The measured process gets the first core, and its clients the others. */
const ONE_CORE = Bun.which("taskset") === null ? [] : ["taskset", "-c", "0"];

/** Ticks a second of the times in /proc (Linux, proc(5), sysconf(_SC_CLK_TCK)). */
const TICKS = 100;

/** The CPU time of a process so far, seconds (Linux, proc(5), utime and stime). */
export const cpuSecondsOf = (pid: number): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
};

const start = async (command: ReadonlyArray<string>) => {
  const child = Bun.spawn([...command], {
    stdout: "pipe",
    stderr: "inherit",
    env: { ...process.env, NODE_ENV: "production" },
  });
  const reader = child.stdout.getReader();
  const decoder = new TextDecoder();
  let buffered = "";
  const line = async (): Promise<string> => {
    for (;;) {
      const end = buffered.indexOf("\n");
      if (end >= 0) {
        const found = buffered.slice(0, end);
        buffered = buffered.slice(end + 1);
        return found;
      }
      const { value, done } = await reader.read();
      if (done) throw new Error(`${command.join(" ")} ended`);
      buffered += decoder.decode(value, { stream: true });
    }
  };
  return {
    pid: child.pid,
    /** The next line of its output. */
    line,
    stop: async (): Promise<void> => {
      child.kill();
      await child.exited;
    },
  };
};

/** A script in a process of its own. The first line it prints is its address. */
export const startChild = (script: string, ...args: ReadonlyArray<string>) =>
  start([process.execPath, script, ...args]);

/** The same on one core. */
export const startOnOneCore = (script: string, ...args: ReadonlyArray<string>) =>
  start([...ONE_CORE, process.execPath, script, ...args]);

/** The same on one core in Node, null without Node. */
export const startNodeOnOneCore = async (script: string) => {
  const node = Bun.which("node");
  if (node === null) return null;
  const outdir = mkdtempSync(join(tmpdir(), "settlement-bench-"));
  const built = await Bun.build({
    entrypoints: [script],
    outdir,
    target: "node",
    naming: "[name].mjs",
  });
  const file = built.outputs[0]?.path;
  if (file === undefined) throw new Error(`${script} was not built`);
  return start([...ONE_CORE, node, file]);
};
