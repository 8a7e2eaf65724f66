import { withDemoLedger } from "../../../app/support/demo-ledger.ts";
import { quietEnvironment, runService, until } from "../../../app/support/running-service.ts";

// Run as a process: a service on an embedded ledger with demo data, in the directory argv[2], whose slots are final after
// argv[3] others, by default at once, with the witnesses of the policy argv[4] if that is given. Prints its address and
// the ledger's once its index is synced.
const [directory = "", finality = "0", policy] = process.argv.slice(2);
const service = await runService({
  ...quietEnvironment(withDemoLedger(directory)),
  LOCAL_LEDGER_FINALITY_SLOTS: finality,
  ...(policy === undefined ? {} : { LOG_WITNESSES: policy }),
});
await until(
  "synced",
  () => fetch(`${service.url}/v1/indexer/sync`, { method: "POST" }).then(({ status }) => status),
  (status) => status === 202,
);
process.stdout.write(`${service.url}\n${service.rpcUrl}\n`);
process.on("SIGTERM", () => void service.stop().then(() => process.exit(0)));
