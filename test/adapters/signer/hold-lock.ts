import { withFileLock } from "../../../adapters/bun/durable-file.ts";

// Run as a process by log-signer.test.ts: says that it holds the lock argv[2], and keeps it until it is killed.
await withFileLock(process.argv[2] ?? "", () => {
  process.stdout.write("held\n");
  return new Promise<void>((resolve) => setTimeout(resolve, 60_000));
});
