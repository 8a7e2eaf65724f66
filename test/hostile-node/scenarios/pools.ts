import type { Scenario } from "../scenario.ts";

/** A balancer whose backends lag up to `slots` behind; each request goes to any of them. */
const laggingPool = (slots: number): Scenario => ({
  name: `lagging-pool-${slots}`,
  does: `answers each request from a backend that lags 0 to ${slots} slots`,
  isUsual: true,
  lagSlots: slots,
  // A list of signatures may be as old as its backend. The next sync reads its newest part again.
  hidesMerchants: true,
  play:
    ({ random, backend }) =>
    (call) =>
      backend.answer(call, Math.floor(random() * (slots + 1))),
});

/** Pools behind one address. */
export const POOLS: ReadonlyArray<Scenario> = [2, 5, 10, 30].map(laggingPool);
