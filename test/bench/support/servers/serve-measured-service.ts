import { monitorEventLoopDelay } from "node:perf_hooks";
import { startBenchService } from "../bench-service.ts";

// Run as a process: a service on the node at argv[2]. Prints its address once its index is synced, and a second
// address. That one returns the event loop's longest stall and the thread's CPU time since the last request, in
// milliseconds.
const url = await startBenchService(process.argv[2] ?? "");
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
let computed = process.threadCpuUsage();
const meter = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: async () => {
    // The timer that measures a delay fires after its cause.
    await Bun.sleep(3);
    const stallMs = delay.max / 1e6;
    delay.reset();
    const { user, system } = process.threadCpuUsage(computed);
    computed = process.threadCpuUsage();
    return Response.json({ stallMs, cpuMs: (user + system) / 1000 });
  },
});
process.stdout.write(`${url}\nhttp://127.0.0.1:${meter.port}\n`);
