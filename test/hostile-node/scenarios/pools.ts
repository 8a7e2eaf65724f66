import type { Scenario } from "../scenario.ts";

/** A balancer whose backends lag up to `slots` behind; each request goes to any of them. */
const laggingPool = (slots: number): Scenario => ({
  name: `lagging-pool-${slots}`,
  does: `answers each request from a backend that lags 0 to ${slots} slots`,
  // The pool of nodes counts an answer of a lower slot as an attempt, so a sync may fail. It is right when it completes.
  isUsual: false,
  play:
    ({ random, backend }) =>
    (call) =>
      backend.answer(call, Math.floor(random() * (slots + 1))),
});

/** Pools behind one address. */
export const POOLS: ReadonlyArray<Scenario> = [2, 5, 10, 30].map(laggingPool);
