import { Effect } from "effect";
import { runLocalLedger } from "../../adapters/local-ledger/run-local-ledger.ts";
import { watchNpx } from "../npx-launcher.ts";

// Found before the ledger says that it is ready, since npx can end at once after that.
const npxEnded = await Effect.runPromise(watchNpx);
if (runLocalLedger(process.argv.slice(2), process.env)) {
  await Effect.runPromise(npxEnded);
  // The ledger stops in order at this signal.
  process.kill(process.pid, "SIGTERM");
}
