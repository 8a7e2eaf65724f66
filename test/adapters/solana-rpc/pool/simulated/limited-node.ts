import type { Answer, TimedCall } from "./virtual-run.ts";

const WINDOW_MS = 10_000;
/** The requests that the node takes in a window. */
const MOST = 100;
/** The requests of one method that the node takes in a window. */
export const MOST_OF_A_METHOD = 40;

/**
 * A node with a public node's limits: 100 requests, 40 of a method, in any 10 seconds. Each request of a batch counts.
 */
export const limitedNode = (answer: (call: TimedCall) => Answer) => {
  let taken: Array<{ readonly method: string; readonly ms: number }> = [];
  const refused: Record<string, number> = {};
  return {
    refused,
    answer: (call: TimedCall): Answer => {
      const { method, nowMs } = call;
      taken = taken.filter(({ ms }) => ms > nowMs - WINDOW_MS);
      const own = taken.filter((one) => one.method === method);
      const [oldest] = own.length >= MOST_OF_A_METHOD ? own : taken;
      if (oldest === undefined || (own.length < MOST_OF_A_METHOD && taken.length < MOST)) {
        taken.push({ method, ms: nowMs });
        return answer(call);
      }
      refused[method] = (refused[method] ?? 0) + 1;
      const seconds = Math.ceil((oldest.ms + WINDOW_MS - nowMs) / 1000);
      return { status: 429, retryAfter: String(seconds) };
    },
  };
};
