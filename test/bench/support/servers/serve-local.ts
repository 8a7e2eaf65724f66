import { withDemoLedger } from "../../../app/support/demo-ledger.ts";
import { quietEnvironment, runService, until } from "../../../app/support/running-service.ts";

// Run as a process: a service on an embedded ledger with demo data, in the directory argv[2]. Prints its address and
// the ledger's once its index is synced.
const service = await runService(quietEnvironment(withDemoLedger(process.argv[2] ?? "")));
await until(
  "synced",
  () => fetch(`${service.url}/v1/indexer/sync`, { method: "POST" }).then(({ status }) => status),
  (status) => status === 202,
);
process.stdout.write(`${service.url}\n${service.rpcUrl}\n`);
process.on("SIGTERM", () => void service.stop().then(() => process.exit(0)));
