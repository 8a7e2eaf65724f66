import { Data, Effect } from "effect";
import { Instance } from "../../../ports/instance.ts";
import type { Address } from "../../domain/address.ts";
import type { LedgerSignature } from "../../domain/ledger/signature.ts";
import type { LandedTransaction, TransactionError } from "../../domain/relay/relay-entry.ts";
import type { SettlementRule } from "../../domain/relay/settlement-rule.ts";
import { type ProgramError, programErrorOf } from "../../protocol/instructions/program-errors.ts";
import type { WireTransaction } from "../../protocol/transaction/wire-transaction.ts";
import type { BetaLimitExceeded, ToldBy } from "../request-errors.ts";

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

/** A top-level instruction calls a program that is not allowed, or none calls custody or attestor (`program` null). */
export class ProgramNotAllowed extends Data.TaggedError("ProgramNotAllowed")<{
  readonly program: Address | null;
  readonly signature: LedgerSignature;
}> {}

/** An address table supplies a program id, does not exist, or lacks an entry that the transaction uses. */
export class LookupTableNotAllowed extends Data.TaggedError("LookupTableNotAllowed")<{
  readonly signature: LedgerSignature;
  readonly detail: string;
}> {}

/** The transaction's lifetime is a durable nonce, which never expires. */
export class DurableNonceNotAllowed extends Data.TaggedError("DurableNonceNotAllowed")<{
  readonly signature: LedgerSignature;
}> {}

/** The transaction asks for more compute units, or pays a higher price for each, than the relay allows. */
export class ComputeBudgetExceeded extends Data.TaggedError("ComputeBudgetExceeded")<{
  readonly signature: LedgerSignature;
  /** Compute units, or micro-lamports per unit. */
  readonly limit: "units" | "unit_price";
  readonly actual: bigint;
  readonly max: bigint;
}> {}

/** The ledger never accepts the transaction's Compute Budget instructions, whatever its state. */
export class ComputeBudgetInvalid extends Data.TaggedError("ComputeBudgetInvalid")<{
  readonly signature: LedgerSignature;
  /** Index of the top-level instruction. */
  readonly instructionIndex: number;
  /** Completes "The instruction ...". */
  readonly detail: string;
}> {}

/** An instruction of the transaction cannot succeed in the ledger's present state. */
export class SettlementCheckFailed extends Data.TaggedError("SettlementCheckFailed")<{
  readonly signature: LedgerSignature;
  readonly rule: SettlementRule;
  /** A sentence without its full stop: what is wrong, and with which value. */
  readonly detail: string;
  /** Index of the failing top-level instruction. */
  readonly instructionIndex: number;
}> {}

/** The relay's queue is full. */
export class RelayQueueFull extends Data.TaggedError("RelayQueueFull")<{
  readonly signature: LedgerSignature;
  readonly capacity: number;
}> {}

/** The queue's share of this client, or of this fee payer, is full. */
export class RelayShareFull extends Data.TaggedError("RelayShareFull")<{
  readonly signature: LedgerSignature;
  readonly holder: "client" | "fee_payer";
  /** The share while the queue is as full as it is now. */
  readonly share: number;
}> {}

/** The fee payer's budget is used up for `resetSeconds`. */
export class FeePayerRateLimited extends Data.TaggedError("FeePayerRateLimited")<{
  readonly signature: LedgerSignature;
  readonly resetSeconds: number;
}> {}

/** The Idempotency-Key was used with another request. */
export class IdempotencyKeyReused extends Data.TaggedError("IdempotencyKeyReused") {}

/** The first request with this Idempotency-Key has no answer yet. */
export class IdempotencyKeyInFlight extends Data.TaggedError("IdempotencyKeyInFlight") {}

/** Neither this relay nor the ledger's history knows the signature; it may still land later. */
export class TransactionNotFound extends Data.TaggedError("TransactionNotFound")<
  ToldBy & { readonly signature: string }
> {}

/** The fee payer's balance does not cover the fee, or would fall below the rent minimum. */
export class FeePayerCannotPay extends Data.TaggedError("FeePayerCannotPay")<{
  readonly feePayer: Address;
  readonly balanceLamports: bigint;
  readonly feeLamports: bigint;
  /** The rent minimum in lamports, null when the ledger did not tell. */
  readonly rentMinimumLamports: bigint | null;
  readonly signature: LedgerSignature;
}> {}

/** Why and where a transaction was refused. */
type Rejection = {
  readonly signature: LedgerSignature;
  readonly error: TransactionError | null;
  readonly logs: ReadonlyArray<string>;
  /** The program of the failing instruction, null for other errors. */
  readonly program: Address | null;
  /** What that program's error number means, null when it is of neither of the two programs. */
  readonly programError: ProgramError | null;
  /** Where it landed and failed; null when only a simulation failed and nothing was sent. */
  readonly landed: LandedTransaction | null;
};

/** The ledger refused the transaction, or would. */
export class TransactionRejected extends Data.TaggedError("TransactionRejected")<
  ToldBy & Rejection
> {}

/**
 * The ledger does not accept the transaction's blockhash: it is too old, or newer than what is confirmed. The
 * transaction is not known to have landed. Only its outcome says that it never will.
 */
export class BlockhashExpired extends Data.TaggedError("BlockhashExpired")<{
  readonly signature: LedgerSignature;
}> {}

/** An instruction creates an escrow beyond a limit of the planned beta, which this instance enforces. */
export class InstructionBeyondBetaLimit extends Data.TaggedError("InstructionBeyondBetaLimit")<{
  /** Index of the first such top-level instruction. */
  readonly instructionIndex: number;
  readonly faults: BetaLimitExceeded["faults"];
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
  | ComputeBudgetExceeded
  | ComputeBudgetInvalid
  | SettlementCheckFailed
  | RelayQueueFull
  | RelayShareFull
  | FeePayerRateLimited
  | IdempotencyKeyReused
  | IdempotencyKeyInFlight
  | FeePayerCannotPay
  | TransactionRejected
  | BlockhashExpired;

/** Fails with the rejection of a transaction that failed in a simulation or, with `landed`, on the ledger. */
export const rejected = Effect.fnUntraced(function* (
  { signature, instructions }: WireTransaction,
  error: TransactionError | null,
  logs: ReadonlyArray<string>,
  landed: LandedTransaction | null = null,
) {
  const { deployment } = yield* Instance;
  const program = instructions[error?.instructionIndex ?? -1]?.program ?? null;
  const programError = programErrorOf(error, program, deployment);
  return yield* new TransactionRejected({ signature, error, logs, program, programError, landed });
});
