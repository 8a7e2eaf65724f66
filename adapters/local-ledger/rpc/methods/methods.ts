import type { LocalLedger } from "../../runtime/ledger.ts";
import { countingParameters } from "../parameter-counts.ts";
import { accountMethods } from "./account-methods.ts";
import { clusterMethods } from "./cluster-methods.ts";
import { faucetMethods } from "./faucet-methods.ts";
import { historyMethods } from "./history-methods.ts";
import type { RpcMethod } from "../rpc-params.ts";
import { tokenMethods } from "./token-methods.ts";
import { transactionMethods } from "./transaction-methods.ts";

/** What a method may ask of whoever sends its answer. */
export type Answering = {
  /** Sends the answer only when what has landed by now is confirmed. */
  readonly holdUntilConfirmed: () => void;
};

/** Every HTTP method of the ledger, by name. */
export const rpcMethods = (
  ledger: LocalLedger,
  answering: Answering,
): ReadonlyMap<string, RpcMethod> =>
  new Map(
    Object.entries({
      ...clusterMethods(ledger),
      ...accountMethods(ledger),
      ...tokenMethods(ledger),
      ...transactionMethods(ledger),
      ...historyMethods(ledger),
      ...faucetMethods(ledger, answering.holdUntilConfirmed),
    }).map(([name, run]) => [name, countingParameters(name, run)]),
  );
