import type { Address } from "../../../../core/domain/address.ts";
import type { WireTransaction } from "../../../../core/protocol/transaction/wire-transaction.ts";
import { resolveAccountKeys } from "../accounts/account-keys.ts";
import type { AccountState } from "../accounts/account-state.ts";
import { tokenBalances } from "../accounts/token-balance.ts";
import { transactionFee } from "./transaction-fee.ts";

/**
 * The fee of a simulated transaction, null when nothing would be charged, and the balances of its accounts before
 * and after it (Agave `runtime/src/bank.rs`: `simulate_transaction_unchecked`).
 */
export const simulationBalances = (
  transaction: WireTransaction,
  read: (address: Address) => AccountState | undefined,
  run: {
    /** The accounts that it names, after it ran; empty when it fails. */
    readonly after: ReadonlyMap<Address, AccountState>;
    readonly charged: boolean;
  },
) => {
  const keys = resolveAccountKeys(transaction, read);
  const fee = run.charged ? transactionFee(transaction) : null;
  const pre = keys.all.map(read);
  const readAfter = (address: Address) => run.after.get(address) ?? read(address);
  const post = keys.all.map((address) => {
    const state = readAfter(address);
    const pays = run.after.size === 0 && address === transaction.feePayer;
    return state !== undefined && pays
      ? { ...state, lamports: state.lamports - (fee ?? 0n) }
      : state;
  });
  return {
    fee,
    preBalances: pre.map((state) => state?.lamports ?? 0n),
    postBalances: post.map((state) => state?.lamports ?? 0n),
    preTokenBalances: tokenBalances(pre, read),
    postTokenBalances: tokenBalances(post, readAfter),
    loadedAddresses: keys.loaded,
  };
};
