import type { Instruction } from "../../../core/domain/ledger/instruction.ts";
import type { LedgerSignature } from "../../../core/domain/ledger/signature.ts";
import {
  decodeSanitizedTransaction,
  MAX_TRANSACTION_BYTES,
} from "../../../core/protocol/transaction/wire-transaction.ts";
import type { LocalKey } from "./local-keys.ts";
import { signedTransaction } from "./signed-transaction.ts";
import type { LocalLedger } from "../runtime/ledger.ts";
import { describeTransactionError } from "../runtime/transactions/transaction-error.ts";

/** One of the local ledger's own transactions failed. */
export class LocalTransactionFailed extends Error {}

/**
 * Signs with local keys (the payer first), runs the transaction at once and returns its signature. @throws
 * LocalTransactionFailed when it fails.
 */
export const runLocally = (
  ledger: LocalLedger,
  payer: LocalKey,
  signers: ReadonlyArray<LocalKey>,
  instructions: ReadonlyArray<Instruction>,
): LedgerSignature => {
  const { blockhash } = ledger.latestBlockhash();
  const wire = signedTransaction({ payer, signers, instructions, blockhash });
  const decoded = decodeSanitizedTransaction(wire);
  if (wire.length > MAX_TRANSACTION_BYTES || "malformed" in decoded)
    throw new Error("a local transaction is too large or malformed");
  const { error } = ledger.submit(decoded.value);
  if (error !== undefined) throw new LocalTransactionFailed(describeTransactionError(error));
  return decoded.value.signature;
};
