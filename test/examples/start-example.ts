/** An example that runs: the first line that it prints, what to give to its standard input, and its last line. */
export type RunningExample = {
  readonly firstLine: Promise<string>;
  /** Writes a line to its standard input and ends that. Gives its last line. @throws Error when it fails. */
  readonly finish: (line: string) => Promise<string>;
};

/** Starts an example, with `env` beside the variables of this process. */
export const startExample = (
  command: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>,
): RunningExample => {
  const child = Bun.spawn([...command], {
    env: { ...process.env, ...env },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
  const errors = new Response(child.stderr).text();
  const { promise: firstLine, resolve } = Promise.withResolvers<string>();
  const output = (async () => {
    let text = "";
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      if (text.includes("\n")) resolve(text.slice(0, text.indexOf("\n")));
    }
    resolve(text);
    return text.trim();
  })();
  return {
    firstLine,
    finish: async (line) => {
      await child.stdin.write(`${line}\n`);
      await child.stdin.end();
      const printed = await output;
      if ((await child.exited) !== 0)
        throw new Error(`${command.join(" ")}\n${printed}\n${await errors}`);
      return printed.split("\n").at(-1) ?? "";
    },
  };
};
