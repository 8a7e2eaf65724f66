import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../../../adapters/local-ledger/main.ts", import.meta.url));

/** The line a ledger process prints when it is ready. */
export type ReadyLine = {
  readonly rpc_url: string;
  readonly ws_url: string;
  readonly genesis_hash: string;
};

/** Starts the ledger as a process of its own and waits until it is ready. */
export const spawnLedger = async (directory: string, ...args: ReadonlyArray<string>) => {
  const child = Bun.spawn(
    [process.execPath, MAIN, "--data-dir", directory, "--port", "0", "--no-demo", ...args],
    { stdin: "pipe", stdout: "pipe", stderr: "pipe" },
  );
  const reader = child.stdout.getReader();
  let text = "";
  while (!text.includes("\n")) {
    const { value, done } = await reader.read();
    if (done)
      throw new Error(`the ledger did not start: ${await new Response(child.stderr).text()}`);
    text += new TextDecoder().decode(value);
  }
  return { child, ready: JSON.parse(text) as ReadyLine };
};
