/** A script in a process of its own, which prints the address it listens at as its first line. */
export const startChild = async (script: string, ...args: ReadonlyArray<string>) => {
  const child = Bun.spawn([process.execPath, script, ...args], {
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
      if (done) throw new Error(`${script} ended`);
      buffered += decoder.decode(value, { stream: true });
    }
  };
  return {
    /** The next line it prints. */
    line,
    stop: async (): Promise<void> => {
      child.kill();
      await child.exited;
    },
  };
};
