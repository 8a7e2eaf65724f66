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
 * USDC in base units. Both return a signature, and answer when readers at `confirmed` see what was given, unless the caller's
 * configuration says `processed`.
 */
export const faucetMethods = (
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
