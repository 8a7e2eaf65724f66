import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect, Exit, Scope } from "effect";
import { readSettings } from "../../../../app/config/settings.ts";
import { startService } from "../../../../app/serve.ts";
import { until } from "../../../app/support/running-service.ts";
import { watchStalls } from "../../../chaos/support/event-loop-stalls.ts";
import { environmentOn } from "../../../chaos/support/service-environment.ts";

// Run as a process: a service on the node at argv[2], with an empty store. argv[3] is the thread that syncs: `worker`,
// or `same` for the one that answers. Syncs once and prints the stalls of the event loop that answers, as JSON.
const [rpcUrl = "", thread = ""] = process.argv.slice(2);
const dataDir = mkdtempSync(join(tmpdir(), "settlement-bench-"));
const env = { ...environmentOn(rpcUrl, dataDir), SYNC_INTERVAL_SECONDS: "0" };
const scope = await Effect.runPromise(Scope.make());
const settings = await Effect.runPromise(readSettings(env));
const start = startService(settings, thread === "worker" ? env : null);
const { url } = await Effect.runPromise(Scope.provide(start, scope));

const get = async (path: string) => {
  const answer = await fetch(url + path);
  await answer.arrayBuffer();
  return answer.status;
};
const sync = async () => (await fetch(`${url}/v1/indexer/sync`, { method: "POST" })).status;
// The answers that are asked for during the snapshot have been compiled before it. A page of rows cannot be: the index
// is empty until then.
const read = () => Promise.all([get("/health"), get("/v1/status")]);
for (let round = 0; round < 200; round++) await read();
await until(
  "ready",
  () => get("/ready"),
  (status) => status === 200,
);

const stopped = watchStalls();
const startMs = performance.now();
const over = new AbortController();
const keepReading = async (): Promise<void> => {
  while (!over.signal.aborted) {
    await read();
    await Bun.sleep(5);
  }
};
const reading = keepReading();
const status = await sync();
over.abort();
await reading;
const tookMs = performance.now() - startMs;
const stalls = stopped();
const pageMs = performance.now();
await get("/v1/indexer");
const firstPageMs = performance.now() - pageMs;
const rssMb = process.memoryUsage.rss() / 1e6;
await Effect.runPromise(Scope.close(scope, Exit.void));
rmSync(dataDir, { recursive: true });
process.stdout.write(`${JSON.stringify({ status, tookMs, rssMb, firstPageMs, ...stalls })}\n`);
process.exit(0);
