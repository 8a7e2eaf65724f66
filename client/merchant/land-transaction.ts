import type { UnsignedTransaction } from "../../core/protocol/transaction/unsigned-transaction.ts";
import { relayUntilKnown } from "../pay/relay.ts";
import { SettlementError } from "../settlement-error.ts";
import { type MessageSigner, transactionSignerOf } from "../signing/message-signer.ts";
import { signTransaction } from "../signing/sign-transaction.ts";
import type { MerchantContext } from "./merchant-context.ts";

/**
 * The signature of a transaction that has landed without an error. The transaction must have been checked. @throws SettlementError when a signer
 * or the relay refuses it, when the ledger does, and when it expired.
 */
export const landTransaction = async (
  { requests }: MerchantContext,
  transaction: UnsignedTransaction,
  signers: ReadonlyArray<MessageSigner>,
  signal?: AbortSignal,
): Promise<string> => {
  const signed = await signTransaction(transaction, signers.map(transactionSignerOf));
  const outcome = await relayUntilKnown(requests, signed, signal);
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
