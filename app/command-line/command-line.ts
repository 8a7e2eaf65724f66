import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import type { CommandIo } from "../../client/command-line/command-io.ts";
import { fetchDirectly } from "../../client/service/fetch-directly.ts";
import { SettlementError } from "../../client/settlement-error.ts";
import { foreignLines } from "../../core/domain/encoding/foreign-text.ts";
import { MAX_PACKET_BYTES } from "../../core/protocol/evidence/evidence-packet.ts";
import { boundedBody, fetchBytes } from "./fetch-bytes.ts";

/** The command line is wrong (sysexits.h). */
export const EX_USAGE = 64;
/** What was given is not what it must be (sysexits.h). */
export const EX_DATAERR = 65;
/** A file or address on the command line cannot be read (sysexits.h). */
export const EX_NOINPUT = 66;
/** A service outside does not answer (sysexits.h). */
export const EX_UNAVAILABLE = 69;

/** The configuration cannot be used (sysexits.h). */
export const EX_CONFIG = 78;

/** A command ends here: with 0 its text is an answer, otherwise it is the reason. */
export class CommandEnded extends Error {
  override readonly name = "CommandEnded";
  readonly code: number;
  constructor(code: number, text: string) {
    super(text);
    this.code = code;
  }
}

/** Ends the command that runs: `runCommand` prints the reason on standard error. */
export const endWith = (code: number, message: string): never => {
  throw new CommandEnded(code, `${foreignLines(message)}\n`);
};

/** What a command does with its arguments; it gives its exit code. */
type Command = (args: ReadonlyArray<string>, io: CommandIo) => Promise<number>;

/** Prints why a command ended, and gives its exit code. Throws on what is no end of a command. */
const ended = (cause: unknown, io: Pick<CommandIo, "stdout" | "stderr">): number => {
  if (!(cause instanceof CommandEnded)) throw cause;
  (cause.code === 0 ? io.stdout : io.stderr).write(cause.message);
  return cause.code;
};

/** Runs a command to its end and gives its exit code. */
export const runCommand = async (
  command: Command,
  args: ReadonlyArray<string>,
  io: CommandIo,
): Promise<number> => {
  try {
    return await command(args, io);
  } catch (cause) {
    return ended(cause, io);
  }
};

/** Runs a command as this process: its arguments, its streams, its exit code. */
export const runAsProcess = async (command: Command): Promise<void> => {
  try {
    // Not process.exit(), which could cut output that is still on its way to a pipe.
    process.exitCode = await command(process.argv.slice(2), process);
  } catch (cause) {
    process.exit(ended(cause, process));
  }
};

/** Prints the reason on standard error, its control characters as code points, and ends the process. */
export const exitWith = (code: number, message: string): never => {
  process.stderr.write(`${foreignLines(message)}\n`);
  process.exit(code);
};

const PORT = process.env["PORT"]?.trim() || "3000";

/** Where a service on this machine listens, by PORT as the service reads it. `serviceUrl` refuses a wrong PORT. */
export const SERVICE_HERE = `http://127.0.0.1:${PORT}`;

const HELP = { help: { type: "boolean", short: "h" } } as const;

/**
 * A command's arguments. Ends it with `help` and 0 when `--help` is among them, and with `EX_USAGE` and one line for an
 * unknown flag or a wrong number of operands. `[name...]` as the last operand stands for any number.
 */
export const parseCommandLine = <const O extends ParseArgsOptionsConfig>(
  args: ReadonlyArray<string>,
  help: string,
  options: O,
  operands: ReadonlyArray<string> = [],
) => {
  const read = () => {
    try {
      return parseArgs({
        args: [...args],
        options: { ...options, ...HELP },
        allowPositionals: operands.length > 0,
      });
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      // Cuts Node's advice on operands that begin with a hyphen. No command has any.
      const [first = reason] = reason.split(". To specify a positional argument");
      return endWith(EX_USAGE, `${first}; see --help`);
    }
  };
  const { values, positionals } = read();
  if ((values as { readonly help?: boolean }).help === true) throw new CommandEnded(0, help);
  // When the last operand's name ends with dots, it may be repeated.
  const last = operands.at(-1) ?? "";
  const isEnough = /\.\.\.\]?$/.test(last)
    ? positionals.length >= operands.length - (last.startsWith("[") ? 1 : 0)
    : positionals.length === operands.length;
  if (!isEnough) endWith(EX_USAGE, `expected ${operands.join(" ")}, and nothing else; see --help`);
  return { values, positionals: positionals as ReadonlyArray<string> };
};

/**
 * Parses this process's arguments with `parseCommandLine`, and ends the process where that ends a command. For scripts.
 */
export const readCommandLine = <const O extends ParseArgsOptionsConfig>(
  help: string,
  options: O,
  operands: ReadonlyArray<string> = [],
) => {
  try {
    return parseCommandLine(process.argv.slice(2), help, options, operands);
  } catch (cause) {
    return process.exit(ended(cause, process));
  }
};

/** What is said of a service that does not answer at `url`, and what to do. */
const noAnswerFrom = (url: string): string =>
  `${url} does not answer; start the service or set --service`;

/**
 * The answer of the service at `url` to a request of `path`. Ends the command where none comes, and where it redirects.
 */
export const askService = (url: string, path: string, method = "GET"): Promise<Response> =>
  fetchDirectly(`${url}${path}`, { method }).catch((cause: unknown) =>
    endWith(
      EX_UNAVAILABLE,
      cause instanceof SettlementError ? `${cause.message} ${cause.cure}` : noAnswerFrom(url),
    ),
  );

/** The address of a running service without a trailing slash. Ends the command when it is malformed. */
export const serviceUrl = (text: string): string => {
  const isPort = /^\d{1,5}$/.test(PORT) && Number(PORT) >= 1 && Number(PORT) <= 65_535;
  if (text === SERVICE_HERE && !isPort)
    return endWith(
      EX_USAGE,
      `PORT is ${JSON.stringify(PORT)}; expected a whole number from 1 to 65535, or the option --service`,
    );
  const url = URL.parse(text);
  if (url === null || !["http:", "https:"].includes(url.protocol))
    return endWith(EX_USAGE, `--service ${text}: expected an http:// or https:// address`);
  return url.href.replace(/\/+$/, "");
};

const tooLong = `it is longer than a packet, which has ${MAX_PACKET_BYTES} bytes at most`;

/**
 * The bytes of a packet in a file, behind an address or, for `-`, on standard input. Rejects with a reason in words.
 */
export const readPacket = async (from: string): Promise<Uint8Array> => {
  if (!/^https?:\/\//.test(from)) {
    const stream = from === "-" ? Bun.stdin.stream() : Bun.file(from).stream();
    return boundedBody(stream, MAX_PACKET_BYTES, tooLong);
  }
  const headers = { accept: "application/json" };
  const bytes = await fetchBytes(from, MAX_PACKET_BYTES, { headers, tooLong });
  if (bytes === null) throw new Error("it answered 404");
  return bytes;
};

/** The progress of a sync, as `/v1/status` shows it. */
export type ShownProgress = {
  readonly phase: string;
  readonly done: number;
  readonly total: number | null;
};

const CELLS = 30;
const number = new Intl.NumberFormat("en");

/** Progress as one line: a bar when the total is known, otherwise a count. */
export const progressLine = ({ phase, done, total }: ShownProgress): string => {
  const counted = `${number.format(done)}${total === null ? "" : ` of ${number.format(total)}`} ${phase}`;
  if (total === null) return counted;
  const share = total === 0 ? 1 : Math.min(1, done / total);
  const filled = Math.floor(share * CELLS);
  const percent = `${Math.floor(share * 100)}%`.padStart(4);
  return `${"█".repeat(filled)}${"░".repeat(CELLS - filled)}${percent}  ${counted}`;
};
