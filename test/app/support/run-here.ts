import type { CommandIo } from "../../../client/command-line/command-io.ts";
import type { ScriptRun } from "./run-script.ts";

/** What a command of this test process is given beside its arguments. */
export type Surroundings = {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
};

/**
 * Runs a command in this process to its end, as `runScript` does in another: it starts in no time. Its files are named
 * by whole paths. Rejects where the process would end with a stack trace.
 */
export const runHere = async (
  command: (io: CommandIo) => Promise<number>,
  { env = {}, stdin = "" }: Surroundings = {},
): Promise<ScriptRun> => {
  let stdout = "";
  let stderr = "";
  const code = await command({
    env,
    stdin: new Blob([stdin]).stream(),
    stdout: { write: (text) => void (stdout += text) },
    stderr: { write: (text) => void (stderr += text) },
    once: () => undefined,
  });
  return { code, stdout, stderr };
};
