import { resolve } from "node:path";
import { foreignLines } from "../../core/domain/encoding/foreign-text.ts";
import { approveRebuild } from "../../adapters/files/operator-files.ts";
import { parseHash32 } from "../../core/domain/hash32.ts";
import type { CommandIo } from "../../client/command-line/command-io.ts";
import {
  askService,
  EX_UNAVAILABLE,
  EX_USAGE,
  endWith,
  parseCommandLine,
  runAsProcess,
  SERVICE_HERE,
  serviceUrl,
} from "../command-line/command-line.ts";

const HELP = `Says how the ledger's history differs from a service's index, and approves that it replaces the index.
Without --accept it only says what differs. Needed where one node alone shows the other history.

usage: bun run cli rebuild-index [options]

  --accept HEAD   the head of the ledger's history that may replace the index, 64 hex digits
  --data-dir DIR  the service's DATA_DIR; of replicas, each one's   ($DATA_DIR, otherwise ./data)
  --service URL   where the service is                              (${SERVICE_HERE})
  --help          this text

Ends with 0 when the rebuild is approved, 1 when nothing differs or nothing was approved, 64 for a wrong
command line, 69 when the service does not answer. The service replaces its index with one of its next
syncs, once scans prove the history again.
`;

type Head = { readonly count: string; readonly head: string };
type Contradiction = {
  readonly kind: string;
  readonly index: Head;
  readonly ledger: Head;
  readonly first_difference: { readonly from: string; readonly to: string } | null;
};

const contradictionOf = async (service: string): Promise<Contradiction | null> => {
  const answer = await askService(service, "/v1/status");
  if (answer.status !== 200)
    return endWith(EX_UNAVAILABLE, `${service} answered ${answer.status}; see its log`);
  const { data } = (await answer.json()) as {
    readonly data: { readonly indexer: { readonly contradiction: Contradiction | null } };
  };
  return data.indexer.contradiction;
};

/** Runs the command. */
export const main = async (args: ReadonlyArray<string>, io: CommandIo): Promise<number> => {
  const { values } = parseCommandLine(args, HELP, {
    accept: { type: "string" },
    "data-dir": { type: "string", default: io.env["DATA_DIR"] ?? "./data" },
    service: { type: "string", default: SERVICE_HERE },
  });

  const service = serviceUrl(values.service);
  const accepted = values.accept === undefined ? undefined : parseHash32(values.accept);
  if (values.accept !== undefined && accepted === undefined)
    endWith(EX_USAGE, "--accept: expected a head, 64 hex digits");
  const contradiction = await contradictionOf(service);
  if (contradiction === null)
    endWith(1, "The service knows of no history that contradicts its index. Nothing to approve.");
  else {
    const { index, ledger, first_difference: first } = contradiction;
    io.stdout.write(
      foreignLines(
        `the index holds    ${index.count} events, head ${index.head}\n` +
          `the ledger shows   ${ledger.count} events, head ${ledger.head}\n` +
          (first === null
            ? "The ledger's history is the beginning of the index's, or empty.\n"
            : `The first event that differs is among ${first.from} to ${first.to}.\n`),
      ),
    );
    if (values.accept === undefined)
      endWith(
        1,
        `Nothing is approved. Compare the ledger with a node of another operator first; then run this command with --accept ${ledger.head}`,
      );
    const replaces = parseHash32(index.head);
    if (accepted === undefined || replaces === undefined || accepted !== ledger.head)
      endWith(EX_USAGE, `--accept is not the head that the ledger shows, which is ${ledger.head}`);
    else {
      const by = { count: BigInt(ledger.count), head: accepted };
      await approveRebuild(resolve(values["data-dir"]), { replaces, by });
      io.stdout.write("Approved. One of the next syncs replaces the index.\n");
    }
  }
  return 0;
};

if (import.meta.main) await runAsProcess(main);
