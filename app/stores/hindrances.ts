import { Effect } from "effect";
import { monotonicMs } from "../../core/use-cases/single-flight.ts";
import { StoreUnavailable } from "../../ports/index/store-refusal.ts";
import type { LedgerFailure, LedgerFault } from "../../ports/ledger/ledger.ts";

/** How often the service says what it waits for, milliseconds. */
const TELL_AGAIN_MS = 60_000;

/** A store that has not said yet which ledger it holds. */
export const SILENT_STORE = new StoreUnavailable({
  retryable: true,
  cause: "no answer",
  fault: {
    problem: "it has not answered yet",
    cure: "Start the database server, or correct the host and port in DATABASE_URL.",
  },
});

const told = ({ kind, rpcCode, httpStatus }: LedgerFault): string => {
  const code = rpcCode ?? httpStatus;
  return code === null ? kind : `${kind} ${code}`;
};

/** The failure while no node has shown the ledger. For callers it looks like a store that cannot be reached. */
export const withoutLedger = (failure: LedgerFailure | null): StoreUnavailable => {
  const fault = failure?.fault;
  return new StoreUnavailable({
    retryable: true,
    store: fault?.node ?? "SOLANA_RPC_URL",
    cause: fault === undefined ? "no answer" : `${fault.method}: ${told(fault)}`,
    fault: {
      problem: "the node has not shown its ledger",
      cure:
        fault?.cure ?? "Check that the node runs and that its address in SOLANA_RPC_URL is right.",
    },
  });
};

/** Logs what keeps the stores from opening when it is new, and again each minute. */
export const hindranceLog = () => {
  const toldMs = new Map<string, number>();
  return ({ message }: StoreUnavailable) =>
    Effect.flatMap(monotonicMs, (nowMs) => {
      const lastMs = toldMs.get(message);
      if (lastMs !== undefined && nowMs - lastMs < TELL_AGAIN_MS) return Effect.void;
      toldMs.set(message, nowMs);
      return Effect.logWarning("the stores cannot be opened; trying again", { reason: message });
    });
};
