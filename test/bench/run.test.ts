import { afterEach, beforeEach, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { temporaryDirectory, until } from "../app/support/running-service.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
type Running = { readonly pid: number; readonly parent: number; readonly command: string };

const processes = (): ReadonlyArray<Running> =>
  Bun.spawnSync(["ps", "-eo", "pid=,ppid=,stat=,args="])
    .stdout.toString()
    .split("\n")
    .flatMap((line) => {
      const [, pid, parent, state = "", command = ""] =
        /^ *(\d+) +(\d+) +(\S+) +(.*)$/.exec(line) ?? [];
      return state.startsWith("Z") ? [] : [{ pid: Number(pid), parent: Number(parent), command }];
    });

const descendants = (pid: number): ReadonlyArray<Running> => {
  const all = processes();
  const below = (parent: number): ReadonlyArray<Running> =>
    all.flatMap((one) => (one.parent === parent ? [one, ...below(one.pid)] : []));
  return below(pid);
};

let started: ReadonlyArray<number> = [];
let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeEach(async () => {
  directory = await temporaryDirectory();
});
afterEach(async () => {
  const running = new Set(processes().map(({ pid }) => pid));
  for (const pid of started) if (running.has(pid)) process.kill(pid, "SIGKILL");
  await directory.remove();
});

test.each([
  ["is interrupted", "run.ts", "SIGINT"],
  ["is asked to stop", "run.ts", "SIGTERM"],
  ["is killed", "run.ts", "SIGKILL"],
  ["fails in one of its files", "prepare.bench.ts", "SIGKILL"],
] as const)("a bench that %s leaves no process", async (_, victim, signal) => {
  const bench = Bun.spawn([process.execPath, "run", "bench", "prepare"], {
    cwd: ROOT,
    env: { ...process.env, TMPDIR: directory.path },
    stdout: "ignore",
    stderr: "ignore",
  });
  const whole = await until(
    "the bench has started a service",
    async () => descendants(bench.pid),
    (below) => below.some(({ command }) => command.includes("serve-service.ts")),
  );
  started = [bench.pid, ...whole.map(({ pid }) => pid)];
  const target = whole.find(({ command }) => command.includes(`test/bench/${victim}`));
  process.kill(target?.pid ?? 0, signal);
  expect(await bench.exited).not.toBe(0);
  await until(
    "all that it started has ended",
    async () => processes().filter(({ pid }) => started.includes(pid)),
    (left) => left.length === 0,
    20,
  );
  // Nobody is left to remove the folder of a command that was killed.
  if (victim !== "run.ts" || signal !== "SIGKILL")
    expect(await readdir(directory.path)).toEqual([]);
});
