#!/usr/bin/env node
import process from "node:process";
import { foreignText } from "../../core/domain/encoding/foreign-text.ts";
import { SettlementError } from "../settlement-error.ts";
import { EX_USAGE, exitCodeOf } from "../command-line/command-line.ts";
import { endWithNpx } from "../command-line/npx-launcher.ts";

/** A command: its help, and what runs it and gives the exit code. */
type Command = {
  readonly HELP: string;
  readonly run: (args: ReadonlyArray<string>) => Promise<number>;
};

/** Each command's module, loaded when it is run. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  verify: () => import("./verify.ts"),
  pay: () => import("./pay.ts"),
  watch: () => import("./watch.ts"),
  refund: () => import("./refund.ts"),
  keygen: () => import("./keygen.ts"),
  doctor: () => import("./doctor.ts"),
  attest: () => import("./attest.ts"),
  merchant: () => import("./merchant.ts"),
  mcp: () => import("./mcp.ts"),
};

const HELP = `Pays merchants through settlement escrows and verifies the evidence.

usage: npx --no-install settlement-evidence COMMAND [options]

  verify    checks an evidence packet; offline
  pay       locks a payment for a merchant in an escrow
  watch     waits until an escrow is settled and keeps its evidence
  refund    returns an expired escrow's money to its agent
  keygen    makes a key file; offline
  doctor    says what stands between this machine and a payment
  attest    signs a delivery claim for an escrow, and releases it
  merchant  register, rotate, cancel, watch, export
  mcp       a model's tools over standard input and output; holds no key

Each command says more with --help.
`;

const main = async ([name, ...args]: ReadonlyArray<string>): Promise<number> => {
  if (name === undefined || name === "--help" || name === "-h" || name === "help") {
    process.stdout.write(HELP);
    return name === undefined ? EX_USAGE : 0;
  }
  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (load === undefined) {
    process.stderr.write(
      `There is no command ${foreignText(name)}. Give one of ${Object.keys(COMMANDS).join(", ")}.\n`,
    );
    return EX_USAGE;
  }
  const { HELP: help, run } = await load();
  if (args.some((each) => each === "--help" || each === "-h")) {
    process.stdout.write(help);
    return 0;
  }
  await endWithNpx();
  try {
    return await run(args);
  } catch (cause) {
    if (!(cause instanceof SettlementError)) throw cause;
    process.stderr.write(`${cause.message} ${cause.cure}\n`);
    return exitCodeOf(cause);
  }
};

// Set, not called: what is still to be written to a pipe is written.
process.exitCode = await main(process.argv.slice(2));
