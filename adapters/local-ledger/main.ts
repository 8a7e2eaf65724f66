import { runLocalLedger } from "./run-local-ledger.ts";

runLocalLedger(process.argv.slice(2), process.env);
