import { startBenchService } from "../bench-service.ts";

// Run as a process: a service on the node at argv[2], with the index in the data directory argv[3] if that is given.
// Prints its address once it can be asked.
const [rpcUrl = "", dataDir] = process.argv.slice(2);
process.stdout.write(`${await startBenchService(rpcUrl, dataDir)}\n`);
