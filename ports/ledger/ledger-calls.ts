import { Context, Effect } from "effect";

/**
 * What a call of a node is for: a sync, a relay and its outcome, the state of the service as `/ready`, `/metrics` and
 * `/v1/status` tell it, a witness, or any other request, such as to prepare a transaction or to read an escrow.
 */
export type LedgerPurpose = "sync" | "relay" | "status" | "witness" | "request";

/** What the running fiber's calls of nodes are for, `request` by default. */
export const CallPurpose = Context.Reference<LedgerPurpose>(
  "settlement-evidence/ports/CallPurpose",
  { defaultValue: () => "request" },
);

/** How often nodes were called by one method for one purpose. Each request of a batch counts, as providers bill it. */
export type LedgerCallCount = {
  /** The JSON-RPC method. */
  readonly method: string;
  readonly purpose: LedgerPurpose;
  /** Since the start, with those that failed or were repeated. */
  readonly calls: number;
};

/** The calls of nodes that this thread has made since its start. */
export const LedgerCalls = Context.Reference<Effect.Effect<ReadonlyArray<LedgerCallCount>>>(
  "settlement-evidence/ports/LedgerCalls",
  { defaultValue: () => Effect.succeed([]) },
);
