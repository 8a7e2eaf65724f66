const ROOT = `${import.meta.dir}/../../..`;

/**
 * The processes of npx: one of that name, a shell that forwards no signal, then the command, with `stdin` as its
 * standard input.
 */
export const underNpx = (
  command: string,
  {
    env = {},
    stdin = "ignore",
  }: { readonly env?: Readonly<Record<string, string>>; readonly stdin?: number | "ignore" } = {},
) =>
  Bun.spawn(
    ["bash", "-c", 'exec -a "npm exec bun" bash -c "$0"', `sh -c '${command}; true' <&0 & wait`],
    {
      cwd: ROOT,
      env: { PATH: process.env["PATH"] ?? "", ...env },
      stdin,
      stdout: "pipe",
      stderr: "pipe",
    },
  );

/**
 * Ends npx by SIGTERM as soon as its command has said `ready`, and resolves with all that the command said. Standard
 * output ends when the last process that holds it has ended: the command. @throws Error when the command ends before it
 * is ready.
 */
export const endNpxAt = async (
  npx: ReturnType<typeof underNpx>,
  ready: string,
): Promise<string> => {
  const lines = npx.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let said = "";
  for (let part = await lines.read(); !part.done; part = await lines.read()) {
    said += part.value;
    if (said.includes(ready)) npx.kill("SIGTERM");
  }
  if (said.includes(ready)) return said;
  throw new Error(`it said: ${said}${await new Response(npx.stderr).text()}`);
};
