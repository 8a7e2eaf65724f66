import type { CommandIo } from "../../client/command-line/command-io.ts";
import { foreignLines } from "../../core/domain/encoding/foreign-text.ts";
import { EX_UNAVAILABLE, parseCommandLine, runAsProcess } from "../command-line/command-line.ts";

const HELP = `Checks what a start needs, with the same environment variables: Bun, the ports, the nodes, the ledger's
genesis, time, programs and listed mints, the data directory, the stores, and the keys and files of a log and a witness.
One line each, a problem with its cure.

usage: bun run doctor

It starts nothing and writes nothing. Ends with 0 when nothing is wrong, 69 when it is only that a node, the database or the
Yellowstone server does not answer, 1 otherwise.
`;

/** Runs the command. */
export const main = async (args: ReadonlyArray<string>, io: CommandIo): Promise<number> => {
  parseCommandLine(args, HELP, {});
  // Loaded here, because the checks need most of the service, and --help does not.
  const [{ Effect }, { diagnose }] = await Promise.all([
    import("effect"),
    import("../doctor/diagnose.ts"),
  ]);
  const findings = await Effect.runPromise(diagnose(io.env, Bun.version));
  for (const { check, ok, text } of findings)
    io.stdout.write(`${ok ? "ok     " : "problem"}  ${check.padEnd(8)}  ${foreignLines(text)}\n`);
  const problems = findings.filter(({ ok }) => !ok);
  const isOnlySilence = problems.every(({ isUnavailable }) => isUnavailable === true);
  return problems.length === 0 ? 0 : isOnlySilence ? EX_UNAVAILABLE : 1;
};

if (import.meta.main) {
  await runAsProcess(main);
  // Pending requests would keep the process alive.
  process.exit();
}
