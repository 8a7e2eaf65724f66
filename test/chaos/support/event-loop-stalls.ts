import { existsSync, readFileSync } from "node:fs";

/**
 * How long the process's first thread, which runs the event loop, was ready to run and had to wait for a core: the second
 * field, in nanoseconds (Linux, Documentation/scheduler/sched-stats.rst).
 */
const SCHEDSTAT = "/proc/self/schedstat";

const waitedForCoreMs = (): number =>
  existsSync(SCHEDSTAT) ? Number(readFileSync(SCHEDSTAT, "utf8").split(" ")[1]) / 1e6 : 0;

/**
 * Watches a timer that is due each millisecond. `longestMs` is the longest that it was kept waiting, `ownMs` the
 * longest without the time in which other processes had the cores: what this one did to itself.
 */
export const watchStalls = () => {
  let longestMs = 0;
  let ownMs = 0;
  let lastMs = performance.now();
  let lastWaitedMs = waitedForCoreMs();
  const timer = setInterval(() => {
    const nowMs = performance.now();
    const waitedMs = waitedForCoreMs();
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
