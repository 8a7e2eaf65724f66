import { spawn } from "node:child_process";

/** How a command's run ended. */
export type Ended = {
  /** Null when it was killed. */
  readonly code: number | null;
  /** The last line that it printed. */
  readonly printed: string;
  readonly complaint: string;
};

/** A command that runs as a process group of its own, so that a signal reaches what it started too. */
export type CommandProcess = {
  readonly kill: () => void;
  /** Asks it to end (SIGTERM). */
  readonly terminate: () => void;
  /** Its first line, once it is printed. Rejects when it ends before that. */
  readonly firstLine: Promise<string>;
  /** What it printed so far, line by line. */
  readonly lines: () => ReadonlyArray<string>;
  readonly ended: Promise<Ended>;
};

/** Starts a command through the shell. */
export const startCommand = (
  command: string,
  env: Readonly<Record<string, string>>,
): CommandProcess => {
  const child = spawn("/bin/sh", ["-c", command], {
    env: { ...process.env, ...env },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [out, err] = ["", ""];
  const first = Promise.withResolvers<string>();
  first.promise.catch(() => undefined);
  child.stdout.on("data", (part: Buffer) => {
    out += part.toString();
    const end = out.indexOf("\n");
    if (end >= 0) first.resolve(out.slice(0, end));
  });
  child.stderr.on("data", (part: Buffer) => (err += part.toString()));
  let isOver = false;
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      isOver = true;
      first.reject(new Error(`it ended with ${code ?? "a signal"}: ${err.trim()}`));
      resolve({ code, printed: out.trim().split("\n").at(-1) ?? "", complaint: err.trim() });
    });
  });
  const send = (signal: NodeJS.Signals) => () => {
    if (isOver || child.pid === undefined) return;
    try {
      process.kill(-child.pid, signal);
    } catch {
      // It ended by itself a moment ago.
    }
  };
  return {
    kill: send("SIGKILL"),
    terminate: send("SIGTERM"),
    firstLine: first.promise,
    lines: () => out.split("\n").slice(0, -1),
    ended,
  };
};
