import { resolve } from "node:path";
import { receiptHash } from "../../adapters/http/pages/verify/receipt-template.ts";
import { buildExecutable } from "../bundle/build-executable.ts";
import { buildPackage } from "../client-package/build-package.ts";
import { exitWith, readCommandLine } from "../command-line/command-line.ts";

const HELP = `Builds the client package, dist/settlement-evidence.tgz, and prints its SHA-256. The same sources give the
same bytes. A running service hands the same package out at /client/settlement-evidence.tgz. Then it prints the SHA-256
of the fixed part of the receipts that /verify and /receipts/{pda} save.

With --executable it builds one file instead, for machines like this one, with Bun, the service and its packages in it. Such
a file serves in any folder; FILE cli, demo, deploy and doctor are the other commands. At its first start it unpacks
itself into CACHE_DIRECTORY, or the user's own cache.

usage: bun run build [options]

  --out DIR           where to   (dist)
  --executable FILE   builds the executable
  --help              this text
`;

const { values } = readCommandLine(HELP, {
  out: { type: "string", default: "dist" },
  executable: { type: "string" },
});
try {
  if (values.executable !== undefined) {
    const file = resolve(values.executable);
    const { sha256, bytes } = await buildExecutable(file);
    process.stdout.write(`${sha256}  ${file} (${bytes} bytes)\n`);
    process.exit(0);
  }
  const { path, sha256, bytes } = await buildPackage(resolve(values.out));
  process.stdout.write(`${sha256}  ${path} (${bytes} bytes)\n`);
  process.stdout.write(`${await receiptHash()}  receipts without their documents\n`);
} catch (cause) {
  exitWith(1, cause instanceof Error ? cause.message : String(cause));
}
