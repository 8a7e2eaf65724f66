import { endWith, EX_USAGE, runAsProcess } from "../command-line/command-line.ts";
import type { CommandIo } from "../../client/command-line/command-io.ts";

type Main = (args: ReadonlyArray<string>, io: CommandIo) => Promise<number>;

/** Each command of the log with its sentence. */
const COMMANDS: Readonly<
  Record<string, readonly [string, () => Promise<{ readonly main: Main }>]>
> = {
  "add-witness": [
    "has the running service ask one more witness",
    () => import("./log/add-witness.ts"),
  ],
};

const HELP = `What an operator does to the settlement log of a running service.

usage: bun run cli log COMMAND [options]

${Object.entries(COMMANDS)
  .map(([name, [about]]) => `  ${name.padEnd(13)}  ${about}\n`)
  .join("")}
Each command says more with --help. docs/log.md, "Operating a log", has the rest.
`;

/** Runs the command. */
export const main = async (args: ReadonlyArray<string>, io: CommandIo): Promise<number> => {
  const [name, ...rest] = args;
  if (name === "--help" || name === "-h") {
    io.stdout.write(HELP);
    return 0;
  }
  const command = Object.hasOwn(COMMANDS, name ?? "") ? COMMANDS[name ?? ""] : undefined;
  if (command === undefined)
    return endWith(EX_USAGE, `expected one of ${Object.keys(COMMANDS).join(", ")}; see --help`);
  return (await command[1]()).main(rest, io);
};

if (import.meta.main) await runAsProcess(main);
