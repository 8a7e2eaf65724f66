import type { Address } from "../../core/domain/address.ts";
import type { UnsignedTransaction } from "../../core/protocol/transaction/unsigned-transaction.ts";
import type { Merchant } from "../generated/contract.ts";
import type { PrepareContext } from "../pay/prepared-transaction.ts";
import { relayUntilKnown } from "../pay/relay.ts";
import { dataOrNull } from "../service/operation.ts";
import { SettlementError } from "../settlement-error.ts";
import {
  type AcceptedSigner,
  type MessageSigner,
  signTransaction,
  transactionSignerOf,
} from "../signing/sign-transaction.ts";

/** What every operation of a merchant needs. */
export type MerchantContext = PrepareContext;

/**
 * A merchant as the service reads it from the ledger, null for a wallet that is not registered. @throws SettlementError
 */
export const readMerchant = (
  { requests }: MerchantContext,
  wallet: Address,
  signal?: AbortSignal,
): Promise<Merchant | null> =>
  dataOrNull(requests, "GET /v1/merchants/{pubkey}", { pubkey: wallet }, { signal });

/**
 * The signature of a transaction that has landed without an error. The transaction must have been checked. @throws
 * SettlementError when a signer or the relay refuses it, when the ledger does, and when it expired.
 */
export const landTransaction = async (
  context: MerchantContext,
  transaction: UnsignedTransaction,
  signers: ReadonlyArray<MessageSigner | AcceptedSigner>,
  signal?: AbortSignal,
): Promise<string> => {
  const signed = await signTransaction(
    transaction,
    signers.map((each) => ("publicKey" in each ? transactionSignerOf(each) : each)),
  );
  const outcome = await relayUntilKnown(context, signed, signal);
  if (outcome.status === "expired")
    throw new SettlementError(
      "transaction_expired",
      `The transaction ${signed.signature} expired before it could land.`,
      "Nothing was changed. The ledger may be busy: run the same again.",
    );
  if (outcome.error !== null)
    throw new SettlementError(
      outcome.program_error?.name ?? "transaction_failed",
      `The ledger refused ${signed.signature}: ${outcome.program_error?.message ?? JSON.stringify(outcome.error)}.`,
      "Nothing was changed but the fee. Mend what it names and run the same again.",
      { problem: { outcome } },
    );
  return signed.signature;
};

/** An escrow that was released. */
export type Released = {
  readonly escrow: string;
  /** Base units that the merchant got, decimal. */
  readonly released: string;
  /** The transaction; null when it was released with this proof already. */
  readonly signature: string | null;
};

/** The escrow was already released with the same claim. There is nothing to sign, and nothing went wrong. */
export class ReleasedAlready extends SettlementError {
  readonly released: Released;

  constructor(released: Released) {
    super(
      "released_already",
      `${released.escrow} was released with this very proof already.`,
      "There is nothing to do.",
    );
    this.released = released;
  }
}
