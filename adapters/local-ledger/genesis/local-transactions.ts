import type { Instruction } from "../../../core/domain/ledger/instruction.ts";
import type { LedgerSignature } from "../../../core/domain/ledger/signature.ts";
import { address } from "../../../core/domain/address.ts";
import { unsignedTransaction } from "../../../core/protocol/transaction/unsigned-transaction.ts";
import {
  decodeSanitizedTransaction,
  MAX_TRANSACTION_BYTES,
} from "../../../core/protocol/transaction/wire-transaction.ts";
import type { LocalKey } from "./local-keys.ts";
import type { LocalLedger } from "../runtime/ledger.ts";
import { describeTransactionError } from "../runtime/transactions/transaction-error.ts";

/** One of the local ledger's own transactions failed. */
export class LocalTransactionFailed extends Error {}

/** The bytes of a transaction with the signatures of these keys. @throws Error when a required signer is not among them. */
const signed = (input: {
  readonly payer: LocalKey;
  readonly signers: ReadonlyArray<LocalKey>;
  readonly instructions: ReadonlyArray<Instruction>;
  readonly blockhash: string;
}): Uint8Array => {
  const { instructions, blockhash } = input;
  const keys = [input.payer, ...input.signers];
  const payer = input.payer.address;
  const unsigned = { payer, instructions, blockhash: address(blockhash) };
  const { bytes, message, signers } = unsignedTransaction(unsigned);
  signers.forEach((signer, place) => {
    const key = keys.find((each) => each.address === signer);
    if (key === undefined) throw new Error(`no local key for the signer ${signer}`);
    // The count of signatures takes one byte.
    bytes.set(key.sign(message), 1 + 64 * place);
  });
  return bytes;
};

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
  const wire = signed({ payer, signers, instructions, blockhash });
  const decoded = decodeSanitizedTransaction(wire);
  if (wire.length > MAX_TRANSACTION_BYTES || "malformed" in decoded)
    throw new Error("a local transaction is too large or malformed");
  const { error } = ledger.submit(decoded.value);
  if (error !== undefined) throw new LocalTransactionFailed(describeTransactionError(error));
  return decoded.value.signature;
};
