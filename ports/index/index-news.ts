import { Context, type Effect } from "effect";

/** Wake-ups about a shared index: a hint that somebody has completed a sync, never a queue. */
export class IndexNews extends Context.Service<
  IndexNews,
  {
    /** Completes at the next hint after it was begun, which may never come. */
    readonly next: Effect.Effect<void>;
    /** Gives a hint to every process that reads the index. Hints may be lost. */
    readonly tell: Effect.Effect<void>;
    /** How long a reader waits for a hint before it looks by itself, milliseconds. */
    readonly lookEveryMs: Effect.Effect<number>;
  }
>()("settlement-evidence/ports/IndexNews") {}
