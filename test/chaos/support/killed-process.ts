import type { Step } from "./sync-steps.ts";

/** Where a kill met a sync. */
export type Moment = "before its writing" | "in a batch" | "between batches" | "after its writing";

/** How a process that syncs ended, and what it told until then. */
export type Ended = {
  /** Null when it was killed before it ended by itself. */
  readonly code: number | null;
  readonly steps: ReadonlyArray<Step>;
  /** When each step was heard of, milliseconds since the process was started. */
  readonly heardMs: ReadonlyArray<number>;
};

/** When to kill: so long after so many steps. */
export type Aim = { readonly steps: number; readonly delayMs: number };

/** Runs a process that tells its steps, and kills it with SIGKILL where `aim` says, null for never. */
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

/** Where a sync of so many batches was when it was killed. */
export const momentOf = ({ steps }: Ended): Moment => {
  if (steps.includes("end")) return "after its writing";
  const last = steps.at(-1);
  if (last === "batch") return "in a batch";
  return last === "applied" ? "between batches" : "before its writing";
};

/**
 * Draws when to kill a sync that runs as `whole` did: three times of four in or just after a batch, else at any moment
 * from its opening on to a little after its end.
 */
export const drawAim = (random: () => number, whole: Ended): Aim => {
  const { steps, heardMs } = whole;
  const openMs = heardMs[0] ?? 0;
  const endMs = heardMs.at(-1) ?? 0;
  if (random() < 0.25) return { steps: 1, delayMs: random() * (endMs - openMs) * 1.1 };
  const batches = steps.flatMap((step, at) => (step === "batch" ? [at] : []));
  const at = batches[Math.floor(random() * batches.length)] ?? 0;
  const tookMs = (heardMs[at + 1] ?? 0) - (heardMs[at] ?? 0);
  return { steps: at + 1, delayMs: random() * tookMs };
};
