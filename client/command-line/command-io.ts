/** Where a command writes text. */
type Output = { readonly write: (text: string) => unknown; readonly isTTY?: boolean };

/** The part of `process` that a command uses. */
export type CommandIo = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly once: (signal: "SIGINT" | "SIGTERM", listener: () => void) => unknown;
};
