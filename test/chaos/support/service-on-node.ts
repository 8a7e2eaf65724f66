import { dirname } from "node:path";
import { runService, until } from "../../app/support/running-service.ts";
import { freshPath } from "./chaos-run.ts";
import { environmentOn } from "./service-environment.ts";

/** A service in this process, on the nodes at these addresses. */
export const serviceOn = async (urls: string, settings: Readonly<Record<string, string>> = {}) => {
  const env = { ...environmentOn(urls, dirname(freshPath("index"))), ...settings };
  const service = await runService(env);
  const status = async (path: string, init?: RequestInit) =>
    (await fetch(service.url + path, init)).status;
  return {
    url: service.url,
    path: `${env.DATA_DIR}/index.sqlite`,
    stop: service.stop,
    /** Waits until a sync that begins after the call is complete. */
    synced: (seconds = 60) =>
      until(
        "a sync completes",
        () => status("/v1/indexer/sync", { method: "POST" }),
        (code) => code === 202,
        seconds,
      ),
    status,
  };
};

/** Requests a path until stopped. Returns the slowest time of a hundred requests. */
export const keepReading = (url: string) => {
  const tookMs: Array<number> = [];
  const statuses = new Map<number, number>();
  const stopped = new AbortController();
  const loop = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      const startMs = performance.now();
      const { status } = await fetch(url).then(async (answer) => {
        await answer.arrayBuffer();
        return answer;
      });
      tookMs.push(performance.now() - startMs);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      await Bun.sleep(5);
    }
  };
  const done = loop();
  return async () => {
    stopped.abort();
    await done;
    const sorted = tookMs.toSorted((a, b) => a - b);
    const p99Ms = sorted[Math.floor(sorted.length * 0.99)] ?? 0;
    return { reads: sorted.length, p99Ms, statuses: Object.fromEntries(statuses) };
  };
};
