import { faucet, MAX_AIRDROP_LAMPORTS, MAX_TOKEN_AIRDROP } from "../../faucet.ts";
import { LocalTransactionFailed } from "../../genesis/local-transactions.ts";
import type { LocalLedger } from "../../runtime/ledger.ts";
import {
  addressOf,
  commitmentOf,
  configOf,
  invalidParams,
  RpcError,
  RpcErrorCode,
  type RpcMethod,
  type RpcParams,
  u64Of,
} from "../rpc-params.ts";
import { accountMethods, tokenMethods } from "./account-methods.ts";
import { clusterMethods } from "./cluster-methods.ts";
import { historyMethods } from "./history-methods.ts";
import { transactionMethods } from "./transaction-methods.ts";

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
 * What is wrong with the number of parameters, in the words of `jsonrpc-derive` (`to_delegate.rs`), which counts
 * parameters for Agave. When no parameter is optional, serde counts them.
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

/**
 * The method with a check that refuses too few and too many parameters. @throws Error for a method whose counts are not
 * known.
 */
const countingParameters = (name: string, run: RpcMethod): RpcMethod => {
  const counts = COUNTS[name];
  if (counts === undefined) throw new Error(`how many parameters does ${name} take?`);
  return (params: RpcParams) => {
    const fault = countFault(params.length, ...counts);
    if (fault !== undefined) throw fault;
    return run(params);
  };
};

const upTo = (amount: bigint, max: bigint, what: string): bigint => {
  if (amount === 0n || amount > max)
    throw invalidParams(`Invalid request: ${what} must be 1 to ${max} in one request`);
  return amount;
};

/** Runs an airdrop and reports its failure to the caller, for example too few lamports for a rent-exempt account. */
const told = <T>(airdrop: () => T): T => {
  try {
    return airdrop();
  } catch (cause) {
    if (!(cause instanceof LocalTransactionFailed)) throw cause;
    throw new RpcError(RpcErrorCode.internalError, `Airdrop failed: ${cause.message}`);
  }
};

/**
 * `requestAirdrop(pubkey, lamports)` as on devnet, and this ledger's own `requestTokenAirdrop(owner, amount)` for mock
 * USDC in base units. Both return a signature, and answer when readers at `confirmed` see what was given, unless the
 * caller's configuration says `processed`.
 */
const faucetMethods = (
  ledger: LocalLedger,
  holdUntilConfirmed: () => void,
): Readonly<Record<string, RpcMethod>> => {
  const { airdrop, airdropTokens } = faucet(ledger);
  const given = (options: unknown, give: () => string): string => {
    const commitment = commitmentOf(configOf(options));
    const signature = told(give);
    if (commitment !== "processed") holdUntilConfirmed();
    return signature;
  };
  return {
    requestAirdrop: ([to, lamports, options]) => {
      const amount = upTo(u64Of(lamports, "lamports"), MAX_AIRDROP_LAMPORTS, "lamports");
      return given(options, () => airdrop(addressOf(to), amount));
    },
    requestTokenAirdrop: ([owner, units, options]) => {
      const amount = upTo(u64Of(units, "amount"), MAX_TOKEN_AIRDROP, "amount");
      return given(options, () => airdropTokens(addressOf(owner, "owner"), amount));
    },
  };
};

/** What a method may ask of whoever sends its answer. */
type Answering = {
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
