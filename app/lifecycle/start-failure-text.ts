import type { ListenFailed } from "../../adapters/http/server/serve-http.ts";
import type { StartFailure } from "../serve.ts";
import type { ConfigInvalid } from "../config/variable.ts";
import { faultLines } from "../config/variable.ts";
import type { IndexRefused } from "../stores/index-refused.ts";

const listenFailed = ({ hostname, port, reason }: ListenFailed, variable: string): string =>
  reason === "EADDRINUSE"
    ? `Port ${port} on ${hostname} is taken; stop what uses it or set another ${variable}`
    : `HOST ${hostname}, ${variable} ${port} cannot be listened on (${reason}); set an address of this machine and a port that this user may take`;

/** The operator's message when the service cannot start or continue: what is wrong, and the cure. */
export const startFailureText = (failure: ConfigInvalid | StartFailure | IndexRefused): string => {
  switch (failure._tag) {
    case "ConfigInvalid":
      return `The configuration is not usable:\n  ${faultLines(failure.faults).join("\n  ")}`;
    case "DataDirectoryUnusable":
      return `DATA_DIR ${failure.path}: ${failure.reason}`;
    case "LocalLedgerDidNotStart":
      return `The local ledger did not start: ${failure.reason.replace(/^local-ledger: /, "")}`;
    case "ListenFailed":
      return listenFailed(failure, "PORT");
    case "MetricsListenFailed":
      return listenFailed(failure.cause, "METRICS_PORT");
    case "StoreUnavailable":
    case "EvidenceKeyUnusable":
    case "LogKeyUnusable":
    case "LogRefused":
    case "LogWitnessesUnusable":
    case "WitnessUnusable":
    case "WrongLedger":
    case "MintDecimalsDiffer":
    case "StoreTooNew":
    case "StoreOfAnotherLedger":
    case "StoreCorrupt":
    case "SyncWorkerEnded":
      return failure.message;
  }
};
