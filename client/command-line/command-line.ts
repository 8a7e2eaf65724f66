import { parseArgs, type ParseArgsConfig } from "node:util";
import { SettlementError } from "../settlement-error.ts";

type Options = NonNullable<ParseArgsConfig["options"]>;

/** A wrong command line: what is wrong with it, and what to do. */
export const usageError = (detail: string, cure: string): SettlementError =>
  new SettlementError("usage", detail, cure);

/** A command's arguments; `--help` is answered before. @throws SettlementError `usage` for an unknown option or a wrong number of operands. */
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
  if (positionals.length !== operands.length)
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
