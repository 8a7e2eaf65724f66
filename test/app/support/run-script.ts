/** How a script ended, and what it wrote. */
export type ScriptRun = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** Runs a script of Bun to its end with arguments, in `cwd`, with `stdin` as its input where it is given. */
export const runScript = async (
  script: string,
  args: ReadonlyArray<string>,
  options: {
    readonly cwd?: string;
    readonly env?: Record<string, string>;
    readonly stdin?: Blob;
  } = {},
): Promise<ScriptRun> => {
  const child = Bun.spawn([process.execPath, script, ...args], {
    ...options,
    stdout: "pipe",
    stderr: "pipe",
  });
  const [code, stdout, stderr] = await Promise.all([
    child.exited,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code, stdout, stderr };
};
