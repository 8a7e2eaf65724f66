import { existsSync, readFileSync } from "node:fs";

/**
 * The time for which the process's first thread, which runs the event loop, was ready but had no core: the second
 * field, in nanoseconds (Linux, Documentation/scheduler/sched-stats.rst).
 */
const SCHEDSTAT = "/proc/self/schedstat";

const waitedForCoreMs = (): number =>
  existsSync(SCHEDSTAT) ? Number(readFileSync(SCHEDSTAT, "utf8").split(" ")[1]) / 1e6 : 0;

/** The time and the wait for a core until then. What waits between the two readings is read again. */
const readClocks = (): { readonly nowMs: number; readonly waitedMs: number } => {
  for (;;) {
    const before = waitedForCoreMs();
    const nowMs = performance.now();
    const waitedMs = waitedForCoreMs();
    if (before === waitedMs) return { nowMs, waitedMs };
  }
};

/**
 * Watches a timer that fires each millisecond. `longestMs` is its longest delay. `ownMs` is the longest delay without
 * the time in which other processes had the cores.
 */
export const watchStalls = () => {
  let longestMs = 0;
  let ownMs = 0;
  let { nowMs: lastMs, waitedMs: lastWaitedMs } = readClocks();
  const timer = setInterval(() => {
    const { nowMs, waitedMs } = readClocks();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    ownMs = Math.max(ownMs, nowMs - lastMs - (waitedMs - lastWaitedMs));
    lastMs = nowMs;
    lastWaitedMs = waitedMs;
  }, 1);
  return () => {
    clearInterval(timer);
    return { longestMs, ownMs };
  };
};
