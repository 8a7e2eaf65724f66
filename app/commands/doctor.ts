import type { CommandIo } from "../../client/command-line/command-io.ts";
import { foreignLines } from "../../core/domain/encoding/foreign-text.ts";
import {
  endWith,
  EX_UNAVAILABLE,
  EX_USAGE,
  parseCommandLine,
  runAsProcess,
} from "../command-line/command-line.ts";

const HELP = `Checks what a start needs, with the same environment variables: Bun, the ports, the nodes, the ledger's
genesis, time, programs and listed mints, each method that the service calls, one notification of the WebSocket, the data
directory, the stores, the keys and files of a log and a witness, and each witness that the log asks. A key that an agent
or a command holds signs a fixed message once. One line each, a problem with its cure.

usage: bun run doctor [--provider [--escrows-a-day N] [--usd-per-million-calls X]]

  --provider   also probes each node: how far its history goes back, whether it applies filters, what it does with 40
               requests at once, and whether its slots are those of the state it shows; and counts a month's calls
  --escrows-a-day N           the volume to count for       (1000)
  --usd-per-million-calls X   the provider's price

It starts nothing and writes nothing. Ends with 0 when nothing is wrong, 69 when it is only that a node, the database, the
Yellowstone server or a witness does not answer, 1 otherwise.
`;

const numberOf = (option: string, text: string): number => {
  const number = /^\d{1,9}(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
  return Number.isNaN(number)
    ? endWith(EX_USAGE, `${option}: expected a number of at least 0`)
    : number;
};

/** Runs the command. */
export const main = async (args: ReadonlyArray<string>, io: CommandIo): Promise<number> => {
  const { values } = parseCommandLine(args, HELP, {
    provider: { type: "boolean", default: false },
    "escrows-a-day": { type: "string", default: "1000" },
    "usd-per-million-calls": { type: "string" },
  });
  const volume = {
    escrowsADay: numberOf("--escrows-a-day", values["escrows-a-day"]),
    usdPerMillionCalls:
      values["usd-per-million-calls"] === undefined
        ? null
        : numberOf("--usd-per-million-calls", values["usd-per-million-calls"]),
  };
  // Loaded here, because the checks need most of the service, and --help does not.
  const [{ Effect }, { diagnose }] = await Promise.all([
    import("effect"),
    import("../doctor/diagnose.ts"),
  ]);
  const findings = await Effect.runPromise(
    diagnose(io.env, Bun.version, values.provider ? volume : null),
  );
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
