import { startBenchService } from "../bench-service.ts";

// Run as a process: a service on the node at argv[2]. Prints its address once its index is synced.
process.stdout.write(`${await startBenchService(process.argv[2] ?? "")}\n`);
