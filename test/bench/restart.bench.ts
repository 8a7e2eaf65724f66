import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startServiceProcess } from "../app/support/service-process.ts";
import { environmentOn } from "../chaos/support/service-environment.ts";
import { startChild } from "./support/child.ts";
import { report, sizeOf } from "./support/report.ts";
import { residentMb } from "./support/resident-memory.ts";

const { values } = parseArgs({ options: { rows: { type: "string" } } });
const SIZES =
  values.rows === undefined
    ? sizeOf({ quick: [20_000], long: [1_000_000] })
    : values.rows.split(",").map(Number);
const ROUNDS = sizeOf({ quick: 2, long: 5 });
const PAGES = 200;
/** How long a service rests, with nothing to sync, before its memory is read. */
const REST_MS = 5000;
const servers = `${import.meta.dir}/support/servers`;

// The node knows a few escrows: a service that does not sync asks it for the slot and the genesis hash only.
const node = await startChild(`${servers}/serve-world.ts`, "10");
const rpcUrl = await node.line();

for (const rows of SIZES) {
  const dataDir = mkdtempSync(join(tmpdir(), "settlement-bench-"));
  // A process of its own, so that the memory of building is no part of the service's.
  const builder = await startChild(`${servers}/build-index.ts`, dataDir, String(rows));
  await builder.line();
  await builder.stop();

  const started: Array<number> = [];
  let memoryMb = Number.NaN;
  for (let round = 1; round <= ROUNDS; round++) {
    const startMs = performance.now();
    const service = startServiceProcess({
      ...environmentOn(rpcUrl, dataDir),
      SYNC_INTERVAL_SECONDS: "0",
      LOG_LEVEL: "info",
    });
    const url = await service.url;
    while ((await fetch(`${url}/ready`)).status !== 200) await Bun.sleep(2);
    started.push(performance.now() - startMs);
    if (round === ROUNDS) {
      for (let page = 0; page < PAGES; page++)
        await (await fetch(`${url}/v1/indexer?limit=50`)).arrayBuffer();
      await Bun.sleep(REST_MS);
      memoryMb = residentMb(service.pid);
    }
    service.kill("SIGTERM");
    await service.ended;
  }
  rmSync(dataDir, { recursive: true });
  const best = Math.min(...started);
  report({
    name: `restart on ${rows} escrows to /ready`,
    goal: "< 1000 ms",
    figure: best,
    unit: "ms",
    ratio: `longest ${Math.max(...started).toFixed(0)} ms, load ${(loadavg()[0] ?? 0).toFixed(1)}`,
    pass: best < 1000,
  });
  report({
    name: `its memory at rest, ${PAGES} pages read`,
    goal: "< 300 MB",
    figure: memoryMb,
    unit: "MB",
    ratio: "",
    pass: memoryMb < 300,
  });
}
await node.stop();
