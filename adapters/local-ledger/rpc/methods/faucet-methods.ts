import { faucet, MAX_AIRDROP_LAMPORTS, MAX_TOKEN_AIRDROP } from "../../faucet.ts";
import { LocalTransactionFailed } from "../../genesis/local-transactions.ts";
import type { LocalLedger } from "../../runtime/ledger.ts";
import { invalidParams, RpcError, RpcErrorCode } from "../rpc-error.ts";
import { addressOf, commitmentOf, configOf, type RpcMethod, u64Of } from "../rpc-params.ts";

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
 * USDC in base units. Both return a signature.
 */
export const faucetMethods = (ledger: LocalLedger): Readonly<Record<string, RpcMethod>> => {
  const { airdrop, airdropTokens } = faucet(ledger);
  return {
    requestAirdrop: ([to, lamports, options]) => {
      commitmentOf(configOf(options));
      const amount = upTo(u64Of(lamports, "lamports"), MAX_AIRDROP_LAMPORTS, "lamports");
      return told(() => airdrop(addressOf(to), amount));
    },
    requestTokenAirdrop: ([owner, units]) => {
      const amount = upTo(u64Of(units, "amount"), MAX_TOKEN_AIRDROP, "amount");
      return told(() => airdropTokens(addressOf(owner, "owner"), amount));
    },
  };
};
