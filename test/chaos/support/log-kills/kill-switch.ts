import { writeSync } from "node:fs";
import { Effect } from "effect";

/** What a process does that a kill may hit: its first snapshot, later changes, the log's tiles, its checkpoints. */
export const PHASES = ["build", "apply", "tile", "sign"] as const;
export type Phase = (typeof PHASES)[number];

/** Before or after which operation of a phase a process kills itself, counted from 1. */
export type KillAim = {
  readonly phase: Phase;
  readonly at: number;
  readonly when: "before" | "after";
};

/** Prints a line unbuffered: a buffered one would be lost when the process is killed. */
export const tellLine = (line: string): void => void writeSync(1, `${line}\n`);

const counts = new Map<Phase, number>(PHASES.map((phase) => [phase, 0]));
let phase: Phase | null = null;
let aim: KillAim | null = null;

/** Sets the aim of this process, null for none. */
export const aimAt = (next: KillAim | null): void => {
  aim = next;
};

/** How many operations each phase has had. */
export const operationCounts = (): Record<string, number> => Object.fromEntries(counts);

const die = (): void => {
  tellLine(`dies in ${phase}`);
  process.kill(process.pid, "SIGKILL");
};

/** Whether the operation that begins is the one aimed at, and on which side of it the process dies. */
const aimedAt = (): KillAim["when"] | null => {
  if (phase === null) return null;
  const count = (counts.get(phase) ?? 0) + 1;
  counts.set(phase, count);
  return aim?.phase === phase && aim.at === count ? aim.when : null;
};

/**
 * An operation on a file or a database, such as a write, a sync, a rename or a statement. The process may die at it.
 */
export const operation = <A>(work: () => A): A => {
  const when = aimedAt();
  if (when === "before") die();
  const result = work();
  if (when === "after") die();
  return result;
};

/** As `operation`, for one that ends later. */
export const slowOperation = async <A>(work: () => Promise<A>): Promise<A> => {
  const when = aimedAt();
  if (when === "before") die();
  const result = await work();
  if (when === "after") die();
  return result;
};

/** Work of a phase. Phases follow each other; they do not overlap. */
export const inPhase = <A, E, R>(of: Phase, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      if (phase !== null) throw new Error(`${of} begins within ${phase}`);
      phase = of;
      tellLine(`enters ${of}`);
    }),
    () => work,
    () =>
      Effect.sync(() => {
        phase = null;
        tellLine(`leaves ${of}`);
      }),
  );
