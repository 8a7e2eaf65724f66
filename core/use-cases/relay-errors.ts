import { Data } from "effect";
import type { Address } from "../domain/address.ts";
import type { LedgerSignature } from "../domain/ledger-signature.ts";
import type { TransactionError } from "../domain/transaction-outcome.ts";

/** The text is not base64, or the bytes are not exactly one serialized transaction. */
export class TransactionMalformed extends Data.TaggedError("TransactionMalformed")<{
  readonly detail: string;
}> {}

/** The transaction has more bytes than its version may have. */
export class TransactionTooLarge extends Data.TaggedError("TransactionTooLarge")<{
  readonly actual: number;
  readonly max: number;
}> {}

/** A required signature is all zero bytes. */
export class SignatureMissing extends Data.TaggedError("SignatureMissing")<{
  readonly signer: Address;
}> {}

/** A signature does not verify under its signer's key. */
export class SignatureInvalid extends Data.TaggedError("SignatureInvalid")<{
  readonly signer: Address;
  readonly signature: LedgerSignature;
}> {}

/** A top-level instruction calls a program off the list, or none calls custody or attestor (`program` null). */
export class ProgramNotAllowed extends Data.TaggedError("ProgramNotAllowed")<{
  readonly program: Address | null;
  readonly signature: LedgerSignature;
}> {}

/** An address table supplies a program id, or is used where the relay cannot resolve it. */
export class LookupTableNotAllowed extends Data.TaggedError("LookupTableNotAllowed")<{
  readonly signature: LedgerSignature;
}> {}

/** The transaction's lifetime is a durable nonce, which never expires. */
export class DurableNonceNotAllowed extends Data.TaggedError("DurableNonceNotAllowed")<{
  readonly signature: LedgerSignature;
}> {}

/** The fee payer's balance does not cover the fee. */
export class FeePayerCannotPay extends Data.TaggedError("FeePayerCannotPay")<{
  readonly feePayer: Address;
  readonly balanceLamports: bigint;
  readonly feeLamports: bigint;
  readonly signature: LedgerSignature;
}> {}

/** The ledger would refuse, or has refused, the transaction. */
export class TransactionRejected extends Data.TaggedError("TransactionRejected")<{
  readonly signature: LedgerSignature;
  readonly error: TransactionError | null;
  readonly logs: ReadonlyArray<string>;
  /** The program of the failing instruction, where the error is an instruction's. */
  readonly program: Address | null;
}> {}

/** The blockhash can no longer carry the transaction, and it has not landed. */
export class BlockhashExpired extends Data.TaggedError("BlockhashExpired")<{
  readonly signature: LedgerSignature;
}> {}

/** Why the relay does not send a transaction. */
export type RelayRefusal =
  | TransactionMalformed
  | TransactionTooLarge
  | SignatureMissing
  | SignatureInvalid
  | ProgramNotAllowed
  | LookupTableNotAllowed
  | DurableNonceNotAllowed
  | FeePayerCannotPay
  | TransactionRejected
  | BlockhashExpired;
