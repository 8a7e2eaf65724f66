import { runLocalLedger } from "../../adapters/local-ledger/run-local-ledger.ts";
import { endWithNpx } from "../../client/command-line/npx-launcher.ts";

// npx is found before the ledger says that it is ready, since it can end at once after that. The ledger stops in order
// at the signal.
await endWithNpx();
// As the service's.
process.umask(0o077);
runLocalLedger(process.argv.slice(2), process.env);
