import { parseArgs, type ParseArgsConfig } from "node:util";
import { SettlementError } from "../settlement-error.ts";
import type { CommandIo } from "./command-io.ts";

/** The command line is wrong (sysexits.h). */
export const EX_USAGE = 64;
/** A file or address on the command line cannot be read (sysexits.h). */
const EX_NOINPUT = 66;
/** The service does not answer (sysexits.h). */
export const EX_UNAVAILABLE = 69;
/** A file cannot be made (sysexits.h). */
const EX_CANTCREAT = 73;
/** Stopped before the outcome was known. The same command continues (sysexits.h). */
export const EX_TEMPFAIL = 75;

/** The exit codes of `verify`, by its verdict. */
export const VERDICT_CODES = {
  verified: 0,
  failed: 1,
  untrusted: 2,
  unsupported_version: 3,
} as const;

const BY_CODE: Readonly<Record<string, number>> = {
  usage: EX_USAGE,
  key_on_command_line: EX_USAGE,
  unreadable: EX_NOINPUT,
  store_unusable: EX_NOINPUT,
  store_damaged: EX_NOINPUT,
  key_unusable: EX_NOINPUT,
  signer_unusable: EX_NOINPUT,
  invalid_trust: EX_NOINPUT,
  service_unreachable: EX_UNAVAILABLE,
  node_unusable: EX_UNAVAILABLE,
  redirected: EX_UNAVAILABLE,
  package_missing: EX_UNAVAILABLE,
  file_exists: EX_CANTCREAT,
  file_not_made: EX_CANTCREAT,
  journal_unusable: EX_NOINPUT,
  interrupted: EX_TEMPFAIL,
  quorum_missing: EX_TEMPFAIL,
};

/**
 * The exit code for a failure: one of sysexits.h, or 1 when service or ledger refused. A code in a service's problem is
 * not mistaken for one of the client's own.
 */
export const exitCodeOf = ({ code, status }: SettlementError): number => {
  if (status !== null) return code === "validation_failed" ? EX_USAGE : 1;
  const own = Object.hasOwn(BY_CODE, code) ? BY_CODE[code] : undefined;
  return own ?? (code.startsWith("invalid_") ? EX_USAGE : 1);
};

/** A signal that is aborted by Ctrl-C or SIGTERM. A second Ctrl-C ends the process at once. */
export const interrupted = (io: CommandIo): AbortSignal => {
  const controller = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const)
    io.once(name, () =>
      controller.abort(
        new SettlementError(
          "interrupted",
          `Interrupted by ${name}.`,
          "Run the same again: it goes on, and nothing is paid twice.",
        ),
      ),
    );
  return controller.signal;
};

type Options = NonNullable<ParseArgsConfig["options"]>;

/** The failure for a wrong command line. */
export const usageError = (detail: string, cure: string): SettlementError =>
  new SettlementError("usage", detail, cure);

/**
 * Parses a command's arguments. The caller has answered `--help`. @throws SettlementError `usage` for an unknown option
 * or a wrong number of operands. One in brackets, such as `[OTHER]`, may be left out.
 */
export const readArguments = <const O extends Options>(
  args: ReadonlyArray<string>,
  options: O,
  operands: ReadonlyArray<string> = [],
) => {
  const read = () => {
    try {
      return parseArgs({
        args: [...args],
        options,
        allowPositionals: true,
      });
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw usageError(
        `${(reason.split(". ")[0] ?? reason).replace(/\.$/, "")}.`,
        "See --help for the options.",
      );
    }
  };
  const { values, positionals } = read();
  const least = operands.filter((name) => !name.startsWith("[")).length;
  if (positionals.length < least || positionals.length > operands.length)
    throw usageError(
      operands.length === 0
        ? `Nothing is expected beside the options, and there is ${positionals.join(" ")}.`
        : `${operands.join(" ")} must be given, and nothing else beside the options.`,
      "See --help for an example.",
    );
  return { values, positionals };
};

/** The value of an option that must be given. @throws SettlementError `usage` without one. */
export const required = (value: string | undefined, option: string, what: string): string => {
  if (value === undefined || value === "")
    throw usageError(`${option} is missing.`, `Give ${what}.`);
  return value;
};
