import { readKeyFile } from "../node/key-file.ts";
import { systemClock } from "../service/requests.ts";
import { SettlementError } from "../settlement-error.ts";
import { watchtower } from "../sessions/seller/watchtower.ts";
import type { CommandIo } from "../command-line/command-io.ts";
import { interrupted, readArguments, required } from "../command-line/command-line.ts";
import { readInput } from "../command-line/read-input.ts";
import { SERVICE_HELP, SERVICE_OPTIONS, serviceNamed } from "../command-line/service-options.ts";

/** What the command says of itself. */
export const HELP = `Captures for a seller of sessions whose machine may be dead, by vouchers and attestations. The money goes to the merchant only.

usage: npx --no-install settlement-evidence watchtower HEADS --service URL --trust FILE --rpc URL --key FILE [--once]

  HEADS                    the file that the seller writes (seller.heads()); it is read again every 30 seconds
${SERVICE_HELP}
  --rpc URL                a node of the ledger that you chose; several are separated by commas
  --key FILE               the key that pays the fees, mode 0600, as keygen makes it
  --once                   captures whatever is owed now, and ends

Without --once it goes on until Ctrl-C or SIGTERM: it captures at a third of a budget, after 15 minutes, when an agent
closes its session on the ledger, and before a session ends. Ends with 0; 1 when a capture failed; 64 for a wrong command
line; 66 when a file cannot be read; 69 when service or node do not answer.
`;

/** The pause between two rounds. */
const ROUND_MS = 30_000;

/** Runs the command. @throws SettlementError */
export const run = async (args: ReadonlyArray<string>, io: CommandIo): Promise<number> => {
  const { values, positionals } = readArguments(
    args,
    {
      ...SERVICE_OPTIONS,
      rpc: { type: "string" },
      key: { type: "string" },
      once: { type: "boolean" },
    },
    ["HEADS"],
  );
  const rpc = required(values.rpc, "--rpc", "the address of a node").split(",");
  const key = required(values.key, "--key", "the file of the key that pays the fees");
  const { url, trust } = await serviceNamed(values, io);
  const say = ({ message, cure }: SettlementError): void => {
    io.stderr.write(`${message} ${cure}\n`);
  };
  const payer = await readKeyFile(key);
  const tower = watchtower({ service: url, trust, rpc, payer, onProblem: say });
  const heads = async (): Promise<string> =>
    new TextDecoder().decode(await readInput(positionals[0] ?? "", io));
  if (values.once === true) {
    await tower.round(await heads(), true);
    return 0;
  }
  const signal = interrupted(io);
  // The first round shows what is wrong with the command line.
  await tower.round(await heads());
  while (!signal.aborted) {
    await systemClock.pause(ROUND_MS, signal).catch(() => undefined);
    if (signal.aborted) break;
    await heads()
      .then((text) => tower.round(text))
      .catch((cause: unknown) => {
        if (!(cause instanceof SettlementError)) throw cause;
        say(cause);
      });
  }
  return 0;
};
