import type { LedgerAccount } from "../../domain/ledger/account.ts";
import type { TransactionError } from "../../domain/relay/transaction-outcome.ts";
import type { Rent } from "../accounts/rent-sysvar.ts";
import { SYSTEM_PROGRAM } from "../addresses/well-known-addresses.ts";

/** Why an account cannot pay a fee: what it is, or what it holds. */
export type FeePayerFault =
  | { readonly error: TransactionError }
  | {
      readonly balanceLamports: bigint;
      /** Null when the rent is not known. */
      readonly rentMinimumLamports: bigint | null;
    };

/** Bytes of a durable nonce account (Agave `nonce/state.rs`: `State::size`). */
const NONCE_LENGTH = 80;

const INVALID_ACCOUNT: FeePayerFault = {
  error: {
    kind: "InvalidAccountForFee",
    instructionIndex: null,
    instructionError: null,
    customCode: null,
  },
};

/**
 * Why a ledger does not let this account pay a fee in its present state, null when no reason is known
 * (Agave `svm/src/account_loader.rs`: `validate_fee_payer`). The payer must belong to the System program and
 * hold no data or a nonce; after the fee it must keep the rent minimum or, without data, nothing at all.
 */
export const feePayerFault = (
  account: LedgerAccount | null,
  rent: Rent | undefined,
  feeLamports: bigint,
): FeePayerFault | null => {
  const balanceLamports = account?.lamports ?? 0n;
  if (account === null || balanceLamports === 0n)
    return feeLamports > 0n ? { balanceLamports, rentMinimumLamports: null } : null;
  const { length } = account.data;
  if (account.owner !== SYSTEM_PROGRAM || (length !== 0 && length !== NONCE_LENGTH))
    return INVALID_ACCOUNT;
  const rentMinimumLamports = rent?.minimumBalance(length) ?? null;
  const left = balanceLamports - feeLamports;
  const canPay = left === 0n ? length === 0 : left > 0n && left >= (rentMinimumLamports ?? 0n);
  return canPay ? null : { balanceLamports, rentMinimumLamports };
};
