import { pause } from "./pause.ts";

/** Time as the client sees it. Tests give another, so that nothing waits. */
export type ClientClock = {
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason as soon as it is aborted. */
  readonly pause: (ms: number, signal?: AbortSignal) => Promise<void>;
};

/** The machine's clock. */
export const systemClock: ClientClock = { nowMs: () => Date.now(), pause };
