import { foreignText } from "../../core/domain/encoding/foreign-text.ts";
import { requestsTo } from "../service/requests.ts";
import { agentSessions } from "../mcp/agent-sessions.ts";
import { policyIn } from "../pinned-policy.ts";
import { SettlementError } from "../settlement-error.ts";
import { errorCode } from "../node/key-file.ts";
import { madeSessionFolder } from "../node/session-folder.ts";
import type { CommandIo } from "../command-line/command-io.ts";
import { readArguments, required, usageError } from "../command-line/command-line.ts";
import { readInput } from "../command-line/read-input.ts";
import { SERVICE_OPTIONS } from "../command-line/service-options.ts";

/** What the command says of itself. */
export const HELP = `Serves a model's tools over standard input and output (Model Context Protocol): they prepare unsigned transactions, read
escrows and evidence, and relay what was signed once the person has confirmed it. Takes no key. Makes keys only for sessions.

usage: npx --no-install settlement-evidence mcp --service URL [--trust FILE [--sessions FOLDER [--rpc URL]]]
       bun run cli mcp ...   in a checkout of the service

  --service URL      the service, http or https
  --trust FILE       its /.well-known/evidence-trust.json, obtained beforehand and kept: packets are verified, payments
                     built anew, settlements checked and transactions explained by it. Without it the person is told first
                     that nothing is pinned, and amounts stay in base units.
  --sessions FOLDER  adds the tools of sessions: the person agrees to a budget once, and the model spends it call by call.
                     The keys of the sessions are made here and kept in the folder, which only you can enter.
  --rpc URL          a node of the ledger, chosen by you, that shows sessions as final; may be repeated

It needs @modelcontextprotocol/server 2.4.0 beside this package. It ends with 0 when its client closes standard input, 64 for a wrong
command line, 66 when the trust document or the folder cannot be used, 69 when that package is missing.
`;

const OPTIONS = {
  ...SERVICE_OPTIONS,
  sessions: { type: "string" },
  rpc: { type: "string", multiple: true },
} as const;

const textIn = async (from: string, io: CommandIo): Promise<string> =>
  new TextDecoder("utf-8", { ignoreBOM: true }).decode(await readInput(from, io));

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
  const { values } = readArguments(args, OPTIONS);
  const service = required(values.service, "--service", "the service's address");
  const requests = requestsTo(service);
  if (values.sessions !== undefined && values.trust === undefined)
    throw usageError("--sessions goes with --trust.", "Give the trust document that you keep.");
  if (values.rpc !== undefined && values.sessions === undefined)
    throw usageError("--rpc goes with --sessions.", "Leave it out, or give the folder.");
  const trust = values.trust === undefined ? null : await textIn(values.trust, io);
  const policy = trust === null ? null : policyIn(trust);
  const sessions =
    values.sessions === undefined || trust === null
      ? null
      : agentSessions({
          service,
          trust,
          folder: await madeSessionFolder(values.sessions),
          ...(values.rpc === undefined ? {} : { rpc: values.rpc }),
        });
  const { serveOverStdio } = await load();
  const { answer: call, stream, clock } = requests;
  serveOverStdio({ call, stream, clock, trust: policy, sessions, report: reportTo(io) });
  return 0;
};
