import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { escrowCursor } from "../../adapters/http/request/page-cursor.ts";
import { networkIdOf, networkLeaf } from "../../core/log/leaf/event-leaf.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { walletOf, worldEscrow } from "../simulation/world-escrow.ts";
import { startChild, startOnOneCore } from "./support/child.ts";
import { load } from "./support/load.ts";
import { report, sizeOf, times } from "./support/report.ts";

const SECONDS = sizeOf({ quick: 2, long: 6 });
const { values } = parseArgs({ options: { rows: { type: "string" } } });
const SIZES =
  values.rows === undefined
    ? sizeOf({ quick: [10_000], long: [10_000, 100_000, 1_000_000] })
    : values.rows.split(",").map(Number);
const CONNECTIONS = 32;
/** More pages than the service keeps, from every part of the list. */
const PLACES = 20_000;
const support = `${import.meta.dir}/support`;
const folder = mkdtempSync(join(tmpdir(), "settlement-bench-"));

/**
 * Asks the service for one path after another, then a server that returns the first answer's bytes without any work.
 */
const beside = async (url: string, pathOf: (number: number) => string) => {
  const file = join(folder, "answer.json");
  writeFileSync(file, await (await fetch(url + pathOf(0))).text());
  const raw = await startOnOneCore(`${support}/servers/serve-bytes.ts`, file);
  const rawUrl = await raw.line();
  const options = { connections: CONNECTIONS, seconds: SECONDS };
  const ours = await load(url, (number) => ({ path: pathOf(number) }), options);
  const theirs = await load(rawUrl, () => ({ path: "/" }), options);
  await raw.stop();
  return {
    figure: ours.perSecond,
    unit: "/s",
    ratio: `${times(ours.perSecond, theirs.perSecond)} Bun.serve of the bytes`,
  };
};

const measured = async (size: number): Promise<void> => {
  const node = await startChild(`${support}/servers/serve-world.ts`, String(size));
  const service = await startOnOneCore(`${support}/servers/serve-service.ts`, await node.line());
  const url = await service.line();

  const newest = await beside(url, () => "/v1/indexer?limit=50");
  report({
    name: `GET /v1/indexer, newest 50 of ${size}`,
    goal: ">= 5000/s",
    ...newest,
    pass: newest.figure >= 5000,
  });
  // Pages behind one number and then another, 7919 apart, so that none repeats before all others have come.
  const cursor = escrowCursor(
    networkIdOf(networkLeaf(walletOf("genesis"), LOCAL_DEPLOYMENT.custodyProgram)),
  );
  const places = Array.from({ length: Math.min(PLACES, size - 60) }, (_, number) =>
    cursor.encode(BigInt(60 + ((number * 7919) % (size - 60)))),
  );
  const anywhere = await beside(
    url,
    (number) => `/v1/indexer?limit=50&cursor=${places[number % places.length] ?? ""}`,
  );
  report({
    name: `GET /v1/indexer, any 50 of ${size}`,
    goal: ">= 5000/s",
    ...anywhere,
    pass: anywhere.figure >= 5000,
  });
  const one = await beside(url, () => `/v1/evidence/${worldEscrow(1).address}`);
  report({
    name: `GET /v1/evidence of a settled escrow, of ${size}`,
    goal: ">= 8000/s",
    ...one,
    pass: one.figure >= 8000,
  });
  const settled = Array.from({ length: 1000 }, (_, number) => worldEscrow(1 + 4 * number).address);
  // The first packet of an escrow is built and signed.
  for (const escrow of settled) await (await fetch(`${url}/v1/evidence/${escrow}`)).arrayBuffer();
  const many = await beside(url, (number) => `/v1/evidence/${settled[number % 1000] ?? ""}`);
  report({
    name: `GET /v1/evidence of 1000 settled, of ${size}`,
    goal: ">= 8000/s",
    ...many,
    pass: many.figure >= 8000,
  });
  await node.stop();
  await service.stop();
};

for (const size of SIZES) await measured(size);
rmSync(folder, { recursive: true });
