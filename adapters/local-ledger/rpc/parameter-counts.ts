import { invalidParams, RpcError, RpcErrorCode } from "./rpc-error.ts";
import type { RpcMethod, RpcParams } from "./rpc-params.ts";

/** How many parameters each method must be given and can be given (Agave `rpc/src/rpc.rs`: the traits). */
const COUNTS: Readonly<Record<string, readonly [required: number, all: number]>> = {
  getAccountInfo: [1, 2],
  getBalance: [1, 2],
  getBlockHeight: [0, 1],
  getBlockTime: [1, 1],
  getEpochInfo: [0, 1],
  getFeeForMessage: [1, 2],
  getFirstAvailableBlock: [0, 0],
  getGenesisHash: [0, 0],
  getHealth: [0, 0],
  getLatestBlockhash: [0, 1],
  getMinimumBalanceForRentExemption: [1, 2],
  getMultipleAccounts: [1, 2],
  getProgramAccounts: [1, 2],
  getRecentPrioritizationFees: [0, 1],
  getSignaturesForAddress: [1, 2],
  getSignatureStatuses: [1, 2],
  getSlot: [0, 1],
  getTokenAccountBalance: [1, 2],
  getTokenAccountsByOwner: [2, 3],
  getTokenSupply: [1, 2],
  getTransaction: [1, 2],
  getVersion: [0, 0],
  isBlockhashValid: [1, 2],
  requestAirdrop: [2, 3],
  requestTokenAirdrop: [2, 3],
  sendTransaction: [1, 2],
  simulateTransaction: [1, 2],
};

/**
 * What is wrong with the number of parameters, in the words of `jsonrpc-derive` (`to_delegate.rs`), which counts parameters
 * for Agave. When no parameter is optional, serde counts them.
 */
const countFault = (given: number, required: number, all: number): RpcError | undefined => {
  if (given >= required && given <= all) return undefined;
  if (all === 0) return invalidParams("Invalid parameters: No parameters were expected");
  if (required === all)
    return invalidParams(
      `Invalid params: invalid length ${given}, expected ${given < all ? `a tuple of size ${all}` : "fewer elements in array"}.`,
    );
  return given < required
    ? invalidParams(`\`params\` should have at least ${required} argument(s)`)
    : new RpcError(
        RpcErrorCode.invalidParams,
        `Invalid parameters: Expected from ${required} to ${all} parameters.`,
        `"Got: ${given}"`,
      );
};

/** The method with a check that refuses too few and too many parameters. @throws Error for a method whose counts are not known. */
export const countingParameters = (name: string, run: RpcMethod): RpcMethod => {
  const counts = COUNTS[name];
  if (counts === undefined) throw new Error(`how many parameters does ${name} take?`);
  return (params: RpcParams) => {
    const fault = countFault(params.length, ...counts);
    if (fault !== undefined) throw fault;
    return run(params);
  };
};
