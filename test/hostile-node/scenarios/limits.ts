import type { Reply, Scenario } from "../scenario.ts";

const slowDown = (seconds: number): Reply => ({
  http: { status: 429, headers: { "retry-after": String(seconds) }, body: "Too many requests" },
});

/**
 * A provider that counts requests in windows. So that a run does not last, a window ends with the second refusal
 * instead of by the clock.
 */
const rateLimited = (
  name: string,
  limits: { readonly all: number; readonly each: number },
  isUsual: boolean,
): Scenario => ({
  name,
  does: `takes ${limits.all} requests and ${limits.each} of one method, then answers 429 with Retry-After`,
  isUsual,
  play: ({ backend }) => {
    const used = new Map<string, number>();
    let all = 0;
    let refused = 0;
    return (call) => {
      const own = used.get(call.method) ?? 0;
      if (all < limits.all && own < limits.each) {
        all += 1;
        used.set(call.method, own + 1);
        return backend.answer(call);
      }
      refused += 1;
      if (refused % 2 === 0) {
        used.clear();
        all = 0;
      }
      return slowDown(0);
    };
  },
});

/** Providers with limits. */
export const LIMITS: ReadonlyArray<Scenario> = [
  rateLimited("rate-limited", { all: 100, each: 40 }, true),
  // Fewer requests than a sync has at once: it may fail, and the next one goes on from what was read.
  rateLimited("tightly-rate-limited", { all: 20, each: 5 }, false),
  {
    name: "scans-limited",
    does: "answers every getProgramAccounts with 429",
    isUsual: false,
    play:
      ({ backend }) =>
      (call) =>
        call.method === "getProgramAccounts" ? slowDown(0) : backend.answer(call),
  },
];
