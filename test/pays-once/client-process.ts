import { spawn } from "node:child_process";

/** How a client's run ended. */
export type Ended = {
  /** Null when it was killed. */
  readonly code: number | null;
  /** The last line that it printed. */
  readonly printed: string;
  readonly complaint: string;
};

/** A client that runs as a process group of its own, so that a kill reaches what its command started too. */
export type ClientProcess = { readonly kill: () => void; readonly ended: Promise<Ended> };

/** Starts a client's command through the shell. */
export const startClient = (
  command: string,
  env: Readonly<Record<string, string>>,
): ClientProcess => {
  const child = spawn("/bin/sh", ["-c", command], {
    env: { ...process.env, ...env },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [out, err] = ["", ""];
  child.stdout.on("data", (part: Buffer) => (out += part.toString()));
  child.stderr.on("data", (part: Buffer) => (err += part.toString()));
  let isOver = false;
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      isOver = true;
      resolve({ code, printed: out.trim().split("\n").at(-1) ?? "", complaint: err.trim() });
    });
  });
  return {
    kill: () => {
      if (isOver || child.pid === undefined) return;
      try {
        process.kill(-child.pid, "SIGKILL");
      } catch {
        // It ended by itself a moment ago.
      }
    },
    ended,
  };
};
