import { foreignText } from "../../core/domain/encoding/foreign-text.ts";
import { requestsTo } from "../service/requests.ts";
import { policyIn } from "../pinned-policy.ts";
import { SettlementError } from "../settlement-error.ts";
import { errorCode } from "../node/key-file.ts";
import type { CommandIo } from "../command-line/command-io.ts";
import { readArguments, required } from "../command-line/command-line.ts";
import { readInput } from "../command-line/read-input.ts";
import { SERVICE_OPTIONS } from "../command-line/service-options.ts";

/** What the command says of itself. */
export const HELP = `Serves a model's tools over standard input and output (Model Context Protocol): they prepare unsigned transactions, read
escrows and evidence, and relay what was signed once the person has confirmed it. Holds no key and takes none.

usage: npx --no-install settlement-evidence mcp --service URL [--trust FILE]
       bun run cli mcp --service URL [--trust FILE]   in a checkout of the service

  --service URL  the service, http or https
  --trust FILE   its /.well-known/evidence-trust.json, obtained beforehand and kept: packets are verified, payments built anew,
                 settlements checked and transactions explained by it. Without it the person is told first that nothing is
                 pinned, and amounts stay in base units.

It needs @modelcontextprotocol/server 2.4.0 beside this package. It ends with 0 when its client closes standard input, 64 for a wrong
command line, 66 when the trust document cannot be read, 69 when that package is missing.
`;

const trustIn = async (from: string, io: CommandIo) =>
  policyIn(new TextDecoder("utf-8", { ignoreBOM: true }).decode(await readInput(from, io)));

/** Loads the server. Only this command needs the protocol's package. */
const load = async () => {
  try {
    return await import("../mcp/mcp-server.ts");
  } catch (cause) {
    if (errorCode(cause) !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw new SettlementError(
      "package_missing",
      "The package of the protocol is not installed.",
      "Run npm install @modelcontextprotocol/server@2.4.0 in the same folder.",
    );
  }
};

/** Messages go to standard error, because standard output carries the protocol. */
const reportTo =
  ({ stderr }: CommandIo) =>
  (bug: unknown): void => {
    const text = bug instanceof Error ? bug.message : String(bug);
    stderr.write(`${foreignText(text.replaceAll(/\s+/g, " "))}\n`);
  };

/** Runs the command. @throws SettlementError */
export const run = async (args: ReadonlyArray<string>, io: CommandIo): Promise<number> => {
  const { values } = readArguments(args, SERVICE_OPTIONS);
  const { answer } = requestsTo(required(values.service, "--service", "the service's address"));
  const trust = values.trust === undefined ? null : await trustIn(values.trust, io);
  const { serveOverStdio } = await load();
  serveOverStdio({ call: answer, trust, report: reportTo(io) });
  return 0;
};
