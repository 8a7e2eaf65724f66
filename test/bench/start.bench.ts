import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServiceProcess } from "../app/support/service-process.ts";
import { quietEnvironment } from "../app/support/running-service.ts";
import { report, sizeOf } from "./support/report.ts";

const ROUNDS = sizeOf({ quick: 2, long: 5 });

/** Milliseconds from the start of a service on an empty directory to its first 200 on a path. */
const startTo = async (path: string): Promise<number> => {
  const dataDir = mkdtempSync(join(tmpdir(), "settlement-bench-"));
  const startMs = performance.now();
  const service = startServiceProcess({ ...quietEnvironment(dataDir), LOG_LEVEL: "info" });
  const url = await service.url;
  while ((await fetch(url + path)).status !== 200) await Bun.sleep(2);
  const tookMs = performance.now() - startMs;
  service.kill("SIGTERM");
  await service.ended;
  rmSync(dataDir, { recursive: true });
  return tookMs;
};

const best = async (path: string): Promise<number> => {
  const taken: Array<number> = [];
  for (let round = 0; round < ROUNDS; round++) taken.push(await startTo(path));
  return Math.min(...taken);
};

for (const [name, path] of [
  ["start to first 200, empty directory, demo data", "/health"],
  ["start to ready: ledger and store open", "/ready"],
] as const) {
  const ms = await best(path);
  report({ name, goal: "< 1000 ms", figure: ms, unit: "ms", ratio: "", pass: ms < 1000 });
}
