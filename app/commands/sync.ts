import { exitWith, readCommandLine, serviceUrl } from "./command-line.ts";

const HELP = `Brings a running service's index up to its ledger and prints the report as JSON.

usage: bun run sync [options]

  --url URL   where the service is   (http://127.0.0.1:3000)
  --help      this text

Ends with 0 when the sync completed, 1 when it failed or the service could not be reached.
`;

const { values } = readCommandLine(HELP, {
  url: { type: "string", default: "http://127.0.0.1:3000" },
});
const url = `${serviceUrl(values.url)}/v1/indexer/sync`;

const response = await fetch(url, { method: "POST" }).catch((cause: unknown) =>
  exitWith(1, `${url} cannot be reached: ${cause instanceof Error ? cause.message : ""}`),
);
const body = await response.text();
if (response.status !== 202) exitWith(1, `${url} answered ${response.status}: ${body}`);
process.stdout.write(`${JSON.stringify(JSON.parse(body), null, 2)}\n`);
