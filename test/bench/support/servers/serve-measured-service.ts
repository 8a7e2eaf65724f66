import { monitorEventLoopDelay } from "node:perf_hooks";
import { startBenchService } from "../bench-service.ts";

// Run as a process: a service on the node at argv[2]. Prints its address once its index is synced, and another that tells
// for how many milliseconds its event loop stood still at most, and how many its thread computed, since it was asked before.
const url = await startBenchService(process.argv[2] ?? "");
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
let computed = process.threadCpuUsage();
const meter = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: async () => {
    // The timer that sees a delay fires after whatever has caused it.
    await Bun.sleep(3);
    const stallMs = delay.max / 1e6;
    delay.reset();
    const { user, system } = process.threadCpuUsage(computed);
    computed = process.threadCpuUsage();
    return Response.json({ stallMs, cpuMs: (user + system) / 1000 });
  },
});
process.stdout.write(`${url}\nhttp://127.0.0.1:${meter.port}\n`);
