import { join } from "node:path";
import { projectCommand } from "../../core/domain/project-command.ts";
import { EMPTY_GENESIS, localGenesis } from "./genesis/genesis.ts";
import {
  LOCAL_LEDGER_FOLDER,
  LOCAL_LEDGER_HELP,
  type LocalLedgerOptions,
  readOptions,
} from "./options.ts";
import { serveLedger } from "./rpc/server.ts";
import { openLedger } from "./runtime/ledger.ts";

const HOSTNAME = "127.0.0.1";
const DAY_MS = 86_400_000;

/** The command line is wrong (sysexits.h). */
const EX_USAGE = 64;

const reasonOf = (cause: unknown): string =>
  cause instanceof Error ? cause.message : String(cause);

const fail = (reason: string, code = 1): never => {
  process.stderr.write(`local-ledger: ${reason}\n`);
  process.exit(code);
};

/** The options, undefined when help is asked for. Ends the process when one is wrong. */
const optionsOrEnd = (
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string | undefined>>,
): LocalLedgerOptions | undefined => {
  try {
    return readOptions(args, environment);
  } catch (cause) {
    return fail(`${reasonOf(cause)}; see ${projectCommand("cli local-ledger --help")}`, EX_USAGE);
  }
};

const run = (options: LocalLedgerOptions): void => {
  const ledger = openLedger({
    directory: join(options.dataDirectory, LOCAL_LEDGER_FOLDER),
    genesis: options.empty ? EMPTY_GENESIS : localGenesis({ demo: options.demo }),
    skipMs: options.skipDays * DAY_MS,
    finalitySlots: options.finalitySlots,
  });
  const server = serveLedger(ledger, {
    hostname: HOSTNAME,
    port: options.port,
    ...(options.webSocketPort === undefined ? {} : { webSocketPort: options.webSocketPort }),
  });
  const { port, webSocketPort } = server;

  let stopping = false;
  const stop = (): void => {
    // Under npx, Ctrl-C arrives twice.
    if (stopping) return;
    stopping = true;
    void server.stop().then(
      () => {
        ledger.close();
        process.exit(0);
      },
      (cause: unknown) => fail(reasonOf(cause)),
    );
  };
  process.on("SIGTERM", stop);
  if (!options.supervised) {
    process.on("SIGINT", stop);
  } else {
    // Ctrl-C reaches both processes, and the service needs its ledger until it has stopped.
    process.on("SIGINT", () => undefined);
    process.stdin.once("end", stop);
    process.stdin.once("error", stop);
    process.stdin.resume();
  }
  // From this line on, the process can be ended cleanly.
  process.stdout.write(
    `${JSON.stringify({
      ready: true,
      rpc_url: `http://${HOSTNAME}:${port}`,
      ws_url: `ws://${HOSTNAME}:${webSocketPort}`,
      genesis_hash: ledger.genesisHash,
    })}\n`,
  );
};

/**
 * Runs the ledger as this process until SIGTERM, or shows the help. Returns whether it runs. Ends the process with a
 * line on standard error: with code 64 when an option is wrong, with 1 when the ledger cannot start.
 */
export const runLocalLedger = (
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string | undefined>>,
): boolean => {
  const options = optionsOrEnd(args, environment);
  if (options === undefined) {
    process.stdout.write(LOCAL_LEDGER_HELP);
    return false;
  }
  try {
    run(options);
    return true;
  } catch (cause) {
    return fail(reasonOf(cause));
  }
};
