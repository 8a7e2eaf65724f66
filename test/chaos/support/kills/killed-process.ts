import type { Step } from "./sync-steps.ts";

/** Where in a sync a kill hit. */
export type Moment = "before its writing" | "in a batch" | "between batches" | "after its writing";

/** How a process that syncs ended, and the steps it printed. */
export type Ended = {
  /** Null when it was killed. */
  readonly code: number | null;
  readonly steps: ReadonlyArray<Step>;
  /** When each step was printed, milliseconds since the start of the process. */
  readonly heardMs: ReadonlyArray<number>;
};

/** When to kill: `delayMs` after `steps` steps. */
export type Aim = { readonly steps: number; readonly delayMs: number };

/** Runs a process that prints its steps, and kills it with SIGKILL at `aim`; null for never. */
export const runUntil = async (command: ReadonlyArray<string>, aim: Aim | null): Promise<Ended> => {
  const startMs = performance.now();
  const child = Bun.spawn([process.execPath, ...command], { stdout: "pipe", stderr: "inherit" });
  const steps: Array<Step> = [];
  const heardMs: Array<number> = [];
  let timer: Timer | undefined;
  let pending = "";
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    const lines = (pending + chunk).split("\n");
    pending = lines.pop() ?? "";
    for (const line of lines) {
      steps.push(line as Step);
      heardMs.push(performance.now() - startMs);
    }
    if (aim !== null && steps.length >= aim.steps)
      timer ??= setTimeout(() => child.kill("SIGKILL"), aim.delayMs);
  }
  await child.exited;
  clearTimeout(timer);
  return { code: child.signalCode === "SIGKILL" ? null : child.exitCode, steps, heardMs };
};

/** Where a sync of this many batches was when it was killed. */
export const momentOf = ({ steps }: Ended): Moment => {
  if (steps.includes("end")) return "after its writing";
  const last = steps.at(-1);
  if (last === "batch") return "in a batch";
  return last === "applied" ? "between batches" : "before its writing";
};

/** The start and the duration of each batch of a sync. */
const batchesOf = ({ steps, heardMs }: Ended) =>
  steps.flatMap((step, at) =>
    step === "batch"
      ? [{ steps: at + 1, tookMs: (heardMs[at + 1] ?? 0) - (heardMs[at] ?? 0) }]
      : [],
  );

/**
 * Draws when to kill a sync like `whole`. One case in four is at any moment from its opening to shortly after its end.
 * One is in or just after any of its batches. The others are at any moment of all batches together.
 */
export const drawAim = (random: () => number, whole: Ended): Aim => {
  const { heardMs } = whole;
  const kind = random();
  if (kind < 0.25) {
    const syncMs = (heardMs.at(-1) ?? 0) - (heardMs[0] ?? 0);
    return { steps: 1, delayMs: random() * syncMs * 1.1 };
  }
  const batches = batchesOf(whole);
  if (kind < 0.5) {
    const { steps, tookMs } = batches[Math.floor(random() * batches.length)] ?? {
      steps: 1,
      tookMs: 0,
    };
    return { steps, delayMs: random() * tookMs };
  }
  let delayMs = random() * batches.reduce((sum, { tookMs }) => sum + tookMs, 0);
  for (const { steps, tookMs } of batches) {
    if (delayMs < tookMs) return { steps, delayMs };
    delayMs -= tookMs;
  }
  return { steps: 1, delayMs };
};
