import type { CommandIo } from "../../client/command-line/command-io.ts";
import { fetchDirectly } from "../../client/service/fetch-directly.ts";
import { foreignJson, foreignText } from "../../core/domain/encoding/foreign-text.ts";
import {
  askService,
  endWith,
  progressLine,
  parseCommandLine,
  runAsProcess,
  SERVICE_HERE,
  serviceUrl,
  type ShownProgress,
} from "../command-line/command-line.ts";

const HELP = `Brings a running service's index up to its ledger and prints the report as JSON. On a terminal a
bar shows how far it has come.

usage: bun run cli sync [options]

  --service URL  where the service is   (${SERVICE_HERE})
  --snapshot     also scan every merchant that the ledger has; one of the last minute is not repeated
  --help         this text

Ends with 0 when the sync completed, 69 when the service does not answer, 64 for a wrong command line, 1 when the sync failed.
`;

/** Wait between two reads of the progress. The reads budget allows for more. */
const LOOK_EVERY_MS = 250;
/** Moves to the beginning of the line and clears it (ECMA-48, EL). */
const CLEAR_LINE = "\r\u001b[K";

/** Runs the command. */
export const main = async (args: ReadonlyArray<string>, io: CommandIo): Promise<number> => {
  const { values } = parseCommandLine(args, HELP, {
    service: { type: "string", default: SERVICE_HERE },
    snapshot: { type: "boolean", default: false },
  });
  const service = serviceUrl(values.service);
  const path = `/v1/indexer/sync${values.snapshot ? "?snapshot=true" : ""}`;

  const progressNow = async (): Promise<ShownProgress | null> => {
    const answer = await fetchDirectly(`${service}/v1/status`).catch(() => null);
    if (answer?.status !== 200) return null;
    const { data } = (await answer.json()) as {
      readonly data: { readonly indexer: { readonly progress?: ShownProgress | null } };
    };
    return data.indexer.progress ?? null;
  };

  /** Draws the progress until `over` resolves. */
  const showProgress = async (over: Promise<unknown>): Promise<void> => {
    let isOver = false;
    const end = over.then(
      () => void (isOver = true),
      () => void (isOver = true),
    );
    for (;;) {
      await Promise.race([end, Bun.sleep(LOOK_EVERY_MS)]);
      if (isOver) break;
      const progress = await progressNow();
      if (progress !== null) io.stderr.write(`${CLEAR_LINE}${foreignText(progressLine(progress))}`);
    }
    io.stderr.write(CLEAR_LINE);
  };

  const answer = askService(service, path, "POST");
  if (io.stderr.isTTY) await showProgress(answer);
  const response = await answer;
  const body = await response.text();
  if (response.status !== 202) endWith(1, `${service}${path} answered ${response.status}: ${body}`);
  io.stdout.write(`${foreignJson(JSON.parse(body), 2)}\n`);
  return 0;
};

if (import.meta.main) await runAsProcess(main);
