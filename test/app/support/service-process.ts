import { fileURLToPath } from "node:url";
import { bundledScript } from "./bundled-script.ts";

/** The file that serves. */
export const MAIN = fileURLToPath(new URL("../../../app/main.ts", import.meta.url));

/** The service as its users run it: a process of its own. */
export type ServiceProcess = {
  readonly pid: number;
  /** Where it listens; rejects when it ends before it does. */
  readonly url: Promise<string>;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Exit code, and everything it wrote, once it has ended. */
  readonly ended: Promise<{
    readonly code: number;
    readonly stdout: string;
    readonly stderr: string;
  }>;
};

/** Starts a script that serves with this environment and nothing else of the test's own but PATH. */
export const startServiceProcess = (
  env: Readonly<Record<string, string>>,
  script = MAIN,
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

/** A service that lives for seconds gains nothing from code that is optimised: that is a fifth of its CPU time. */
const SHORT_LIVED = { BUN_JSC_useDFGJIT: "0" };

/** As `startServiceProcess`, from one file: for tests of what the service does, not of how it is started. */
export const startBundledService = async (
  env: Readonly<Record<string, string>>,
): Promise<ServiceProcess> =>
  startServiceProcess({ ...SHORT_LIVED, ...env }, await bundledScript(MAIN));
