import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { worldEscrow } from "../simulation/world-escrow.ts";
import { startChild } from "./support/child.ts";
import { load } from "./support/load.ts";
import { report, sizeOf, times } from "./support/report.ts";

const SECONDS = sizeOf({ quick: 2, long: 6 });
const SIZES = sizeOf({ quick: [10_000], long: [10_000, 100_000] });
const CONNECTIONS = 32;
const support = `${import.meta.dir}/support`;
const folder = mkdtempSync(join(tmpdir(), "settlement-bench-"));

/** Asks the service and then a server that answers the same bytes without any work. */
const beside = async (url: string, path: string) => {
  const file = join(folder, "answer.json");
  writeFileSync(file, await (await fetch(url + path)).text());
  const raw = await startChild(`${support}/serve-bytes.ts`, file);
  const rawUrl = await raw.line();
  const options = { connections: CONNECTIONS, seconds: SECONDS };
  const ours = await load(() => new Request(url + path), options);
  const theirs = await load(() => new Request(rawUrl), options);
  await raw.stop();
  return {
    perSecond: ours.perSecond,
    ratio: `${times(ours.perSecond, theirs.perSecond)} Bun.serve of the bytes`,
  };
};

for (const size of SIZES) {
  const node = await startChild(`${support}/serve-world.ts`, String(size));
  const service = await startChild(`${support}/serve-service.ts`, await node.line());
  const url = await service.line();
  const page = await beside(url, "/v1/indexer?limit=50");
  report({
    name: `GET /v1/indexer, 50 rows of ${size}`,
    goal: ">= 5000/s",
    figure: page.perSecond,
    unit: "/s",
    ratio: page.ratio,
    pass: page.perSecond >= 5000,
  });
  const evidence = await beside(url, `/v1/evidence/${worldEscrow(1).address}`);
  report({
    name: `GET /v1/evidence of a settled escrow, of ${size}`,
    goal: ">= 8000/s",
    figure: evidence.perSecond,
    unit: "/s",
    ratio: evidence.ratio,
    pass: evidence.perSecond >= 8000,
  });
  await Promise.all([node.stop(), service.stop()]);
}
rmSync(folder, { recursive: true });
