import { createKeyFile } from "../node/key-file.ts";
import type { CommandIo } from "../command-line/command-io.ts";
import { readArguments } from "../command-line/command-line.ts";

/** What the command says of itself. */
export const HELP = `Makes a file with a new key and prints its address. Needs no network.

usage: npx --no-install settlement-evidence keygen FILE

  FILE    gets mode 0600 and the form of solana-keygen; a file that exists is left as it is;
          folders that are missing are made

Ends with 0, 64 for a wrong command line, 73 when the file exists or cannot be made.
`;

/** Runs the command. @throws SettlementError */
export const run = async (args: ReadonlyArray<string>, io: CommandIo): Promise<number> => {
  const read = readArguments(args, {}, ["FILE"]);
  io.stdout.write(`${await createKeyFile(read.positionals[0] ?? "")}\n`);
  return 0;
};
