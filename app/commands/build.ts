import { resolve } from "node:path";
import { receiptHash } from "../../adapters/http/pages/verify/receipt-template.ts";
import { buildPackage } from "../client-package/build-package.ts";
import { exitWith, readCommandLine } from "../command-line/command-line.ts";

const HELP = `Builds the client package, dist/settlement-evidence.tgz, and prints its SHA-256. The same sources give the
same bytes. A running service hands the same package out at /client/settlement-evidence.tgz. Then it prints the SHA-256
of the fixed part of the receipts that /verify and /receipts/{pda} save.

usage: bun run build [options]

  --out DIR   where to   (dist)
  --help      this text
`;

const { values } = readCommandLine(HELP, { out: { type: "string", default: "dist" } });
try {
  const { path, sha256, bytes } = await buildPackage(resolve(values.out));
  process.stdout.write(`${sha256}  ${path} (${bytes} bytes)\n`);
  process.stdout.write(`${await receiptHash()}  receipts without their documents\n`);
} catch (cause) {
  exitWith(1, cause instanceof Error ? cause.message : String(cause));
}
