import { fileURLToPath } from "node:url";

/** What `bun run start` runs: the service from its bundle. */
const START = fileURLToPath(new URL("../../../app/start.ts", import.meta.url));
/** The main file of the service, which `bun run dev` runs from the sources. */
export const MAIN = fileURLToPath(new URL("../../../app/main.ts", import.meta.url));

/** The service as users run it: in a process of its own. */
export type ServiceProcess = {
  readonly pid: number;
  /** The service's address. Rejects when the process ends before it listens. */
  readonly url: Promise<string>;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** The exit code and all output, once the process has ended. */
  readonly ended: Promise<{
    readonly code: number;
    readonly stdout: string;
    readonly stderr: string;
  }>;
};

/** Starts a script that serves with this environment, and PATH from the test's own. */
export const startServiceProcess = (
  env: Readonly<Record<string, string>>,
  script = START,
): ServiceProcess => {
  const child = Bun.spawn([process.execPath, script], {
    env: { PATH: process.env["PATH"] ?? "", LOG_FORMAT: "json", ...env },
    stdout: "pipe",
    stderr: "pipe",
  });
  const listening = Promise.withResolvers<string>();
  let stdout = "";
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const chunk of child.stdout) {
      stdout += decoder.decode(chunk, { stream: true });
      const url = /"message":"listening","url":"([^"]+)"/.exec(stdout)?.[1];
      if (url !== undefined) listening.resolve(url);
    }
    listening.reject(new Error("the service ended before it listened"));
  };
  const ended = Promise.all([child.exited, new Response(child.stderr).text(), read()]).then(
    ([code, stderr]) => ({ code, stderr, stdout }),
  );
  listening.promise.catch(() => undefined);
  return {
    pid: child.pid,
    url: listening.promise,
    kill: (signal) => child.kill(signal),
    ended,
  };
};

/** Optimized code brings nothing to a service that lives for seconds, and takes a fifth of its CPU time. */
const SHORT_LIVED = { BUN_JSC_useDFGJIT: "0" };

/** As `startServiceProcess`, in less CPU time. For tests of what the service does, not of how fast it is. */
export const startShortLivedService = (
  env: Readonly<Record<string, string>>,
  script?: string,
): ServiceProcess => startServiceProcess({ ...SHORT_LIVED, ...env }, script);
