/** Where a command writes text. */
type Output = { readonly write: (text: string) => unknown; readonly isTTY?: boolean };

/** What a command has of its process; `process` itself is one. */
export type CommandIo = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly once: (signal: "SIGINT" | "SIGTERM", listener: () => void) => unknown;
};
