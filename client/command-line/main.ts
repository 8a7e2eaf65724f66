import { foreignText } from "../../core/domain/encoding/foreign-text.ts";
import { SettlementError } from "../settlement-error.ts";
import type { CommandIo } from "./command-io.ts";
import { EX_USAGE, exitCodeOf } from "./command-line.ts";

/** A command: its help, and what runs it and gives the exit code. */
type Command = {
  readonly HELP: string;
  readonly run: (args: ReadonlyArray<string>, io: CommandIo) => Promise<number>;
};

/** Each command's module, loaded when it is run. */
export const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  verify: () => import("../bin/verify.ts"),
  pay: () => import("../bin/pay.ts"),
  watch: () => import("../bin/watch.ts"),
  refund: () => import("../bin/refund.ts"),
  sessions: () => import("../bin/sessions.ts"),
  keygen: () => import("../bin/keygen.ts"),
  doctor: () => import("../bin/doctor.ts"),
  attest: () => import("../bin/attest.ts"),
  merchant: () => import("../bin/merchant.ts"),
  watchtower: () => import("../bin/watchtower.ts"),
  mcp: () => import("../bin/mcp.ts"),
};

const HELP = `Pays merchants through settlement escrows and verifies the evidence.

usage: npx --no-install settlement-evidence COMMAND [options]

  verify      checks an evidence packet; offline
  pay         locks a payment for a merchant in an escrow
  watch       waits until an escrow is settled and keeps its evidence
  refund      returns an expired escrow's money to its agent
  sessions    lists and closes an agent's sessions, and makes the evidence of a call
  keygen      makes a key file; offline
  doctor      says what stands between this machine and a payment
  attest      signs a delivery claim for an escrow, and releases it
  merchant    register, rotate, cancel, watch, export
  watchtower  captures for a seller of sessions whose machine may be dead
  mcp         a model's tools over standard input and output; takes no key

Each command says more with --help.
`;

/** What a command line says of a command that it does not have, with the `names` of those that it has. */
export const noSuchCommand = (name: string, names: ReadonlyArray<string>): string =>
  `There is no command ${foreignText(name)}. Give one of ${names.join(", ")}.\n`;

/** Runs the package's command with these arguments, and gives its exit code. */
export const main = async (
  [name, ...args]: ReadonlyArray<string>,
  io: CommandIo,
): Promise<number> => {
  if (name === undefined || name === "--help" || name === "-h" || name === "help") {
    io.stdout.write(HELP);
    return name === undefined ? EX_USAGE : 0;
  }
  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (load === undefined) {
    io.stderr.write(noSuchCommand(name, Object.keys(COMMANDS)));
    return EX_USAGE;
  }
  const { HELP: help, run } = await load();
  if (args.some((each) => each === "--help" || each === "-h")) {
    io.stdout.write(help);
    return 0;
  }
  try {
    return await run(args, io);
  } catch (cause) {
    if (!(cause instanceof SettlementError)) throw cause;
    io.stderr.write(`${cause.message} ${cause.cure}\n`);
    return exitCodeOf(cause);
  }
};
