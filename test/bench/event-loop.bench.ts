import { loadavg } from "node:os";
import { startChild } from "./support/child.ts";
import { report, sizeOf, times } from "./support/report.ts";

const ESCROWS = sizeOf({ quick: 20_000, long: 100_000 });
const GOAL_MS = 20;
const servers = `${import.meta.dir}/support/servers`;

type Watched = {
  readonly status: number;
  readonly tookMs: number;
  readonly rssMb: number;
  readonly firstPageMs: number;
  readonly longestMs: number;
  readonly ownMs: number;
};

const node = await startChild(`${servers}/serve-world.ts`, String(ESCROWS));
const rpcUrl = await node.line();

const watched = async (thread: "same" | "worker"): Promise<Watched> => {
  const service = await startChild(`${servers}/serve-watched-service.ts`, rpcUrl, thread);
  const figures = JSON.parse(await service.line()) as Watched;
  await service.stop();
  if (figures.status !== 202) throw new Error(`the sync answered ${figures.status}`);
  return figures;
};

const load = (): string => `load ${(loadavg()[0] ?? 0).toFixed(1)}`;
const same = await watched("same");
const info = { goal: "", unit: "ms", pass: null };
report({
  ...info,
  name: `stall at a snapshot of ${ESCROWS}, one thread`,
  figure: same.ownMs,
  ratio: load(),
});
const worker = await watched("worker");
report({
  name: `stall at a snapshot of ${ESCROWS}, in a worker`,
  goal: `<= ${GOAL_MS} ms`,
  figure: worker.ownMs,
  unit: "ms",
  ratio: `${times(worker.ownMs, same.ownMs)} one thread, ${load()}`,
  pass: worker.ownMs <= GOAL_MS,
});
for (const [name, figures] of [
  ["one thread", same],
  ["in a worker", worker],
] as const) {
  report({
    ...info,
    name: `the same with waits for a core, ${name}`,
    figure: figures.longestMs,
    ratio: "",
  });
  report({
    ...info,
    name: `first page of rows after it, ${name}`,
    figure: figures.firstPageMs,
    ratio: "",
  });
  report({
    ...info,
    name: `duration of that snapshot, ${name}`,
    figure: figures.tookMs,
    ratio: "",
  });
  report({
    ...info,
    name: `memory after it, ${name}`,
    figure: figures.rssMb,
    unit: "MB",
    ratio: "",
  });
}
await node.stop();
