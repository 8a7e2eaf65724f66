import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cpuSecondsOf, startChild, startOnOneCore } from "./support/child.ts";
import { load } from "./support/load.ts";
import { report, sizeOf, times } from "./support/report.ts";
import { sampled, settledEscrow } from "./support/settled-world.ts";

const EVENTS = sizeOf({ quick: 100_000, long: 1_000_000 });
const SECONDS = sizeOf({ quick: 2, long: 6 });
/** Escrows whose proofs are asked for: more than the service keeps packets of, from every part of the log. */
const ASKED = 20_000;
const GOAL = 2000;
const servers = `${import.meta.dir}/support/servers`;
const escrows = EVENTS / 2;
const dataDir = mkdtempSync(join(tmpdir(), "settlement-bench-"));

const builder = await startChild(`${servers}/build-log.ts`, dataDir, String(escrows));
await builder.line();
await builder.stop();
const node = await startChild(`${servers}/serve-settled.ts`, String(escrows), String(ASKED));
const service = await startOnOneCore(`${servers}/serve-service.ts`, await node.line(), dataDir);
const url = await service.line();

/** Answers a second of the CPU time that the service takes for them, whatever else runs on its core. */
const perCore = async (pathOf: (number: number) => string) => {
  const asked = { connections: 32, warmUpSeconds: 0 };
  const request = (number: number) => ({ path: pathOf(number) });
  await load(url, request, { ...asked, seconds: 2 });
  const before = cpuSecondsOf(service.pid);
  const { answers, p99Ms } = await load(url, request, { ...asked, seconds: SECONDS });
  return { perSecond: answers / (cpuSecondsOf(service.pid) - before), p99Ms };
};
const health = await perCore(() => "/health");
const paths = sampled(escrows, ASKED).map(
  (number) => `/v1/evidence/${settledEscrow(number).address}/proof`,
);
const measure = async (name: string, goal: number | null, pathOf: (number: number) => string) => {
  const { perSecond, p99Ms } = await perCore(pathOf);
  report({
    name,
    goal: goal === null ? "" : `>= ${goal}/s a core`,
    figure: perSecond,
    unit: "/s",
    ratio: `${times(perSecond, health.perSecond)} /health; p99 ${p99Ms.toFixed(1)} ms`,
    pass: goal === null ? null : perSecond >= goal,
  });
};
report({
  name: "GET /health, the yardstick",
  goal: "",
  figure: health.perSecond,
  unit: "/s",
  ratio: "",
  pass: null,
});
const first = paths[0] ?? "";
await measure(`/proof of one escrow, ${EVENTS} events`, null, () => first);
await measure(`/proof of ${ASKED} escrows`, GOAL, (number) => paths[number % paths.length] ?? "");
await service.stop();
await node.stop();
rmSync(dataDir, { recursive: true });
