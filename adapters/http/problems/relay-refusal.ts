import type {
  RelayRefusal,
  TransactionNotFound,
} from "../../../core/use-cases/relay/relay-errors.ts";
import { rejectionRecord } from "../relay/relay-contract.ts";
import { capitalised } from "./problem-kind.ts";
import type { Problem } from "./problem.ts";
import { PROBLEM_CATALOGUE } from "./problem-catalogue.ts";
import { ownStateCure } from "./state-cure.ts";

const RETRY_WHEN_SOME_HAVE_LANDED = { "retry-after": "5" };
/**
 * Most relays are answered within 5 seconds. After a crash, the key is free again when the policy's time limit is over.
 */
const RETRY_WHEN_ANSWERED = { "retry-after": "5" };

/** The problem, without its code, for a transaction that the relay refuses or does not know. */
export const relayRefusal = (
  refusal: RelayRefusal | TransactionNotFound,
): Omit<Problem, "code"> => {
  switch (refusal._tag) {
    case "TransactionMalformed":
      return { detail: `The transaction ${refusal.detail}.` };
    case "TransactionTooLarge":
      return {
        detail: `The transaction has ${refusal.actual} bytes; at most ${refusal.max} are possible.`,
      };
    case "SignatureMissing":
      return {
        detail: "A required signature is missing.",
        extensions: { signer: refusal.signer },
      };
    case "SignatureInvalid":
      return {
        detail: "A signature does not verify.",
        extensions: { signature: refusal.signature, signer: refusal.signer },
      };
    case "ProgramNotAllowed":
      return {
        detail:
          refusal.program === null
            ? "No instruction calls the custody or attestor program."
            : "An instruction calls a program that the relay does not allow.",
        extensions: {
          signature: refusal.signature,
          ...(refusal.program === null ? {} : { program: refusal.program }),
        },
      };
    case "LookupTableNotAllowed":
      return {
        detail: `${capitalised(refusal.detail)}.`,
        extensions: { signature: refusal.signature },
      };
    case "DurableNonceNotAllowed":
      return {
        detail: "The transaction's lifetime is a durable nonce.",
        extensions: { signature: refusal.signature },
      };
    case "ComputeBudgetExceeded": {
      const what = refusal.limit === "units" ? "compute units" : "micro-lamports a compute unit";
      return {
        detail: `The transaction asks for ${refusal.actual} ${what}; the relay allows at most ${refusal.max}.`,
        extensions: {
          signature: refusal.signature,
          actual: String(refusal.actual),
          max: String(refusal.max),
        },
      };
    }
    case "ComputeBudgetInvalid":
      return {
        detail: `The instruction ${refusal.detail}.`,
        extensions: {
          signature: refusal.signature,
          instruction_index: refusal.instructionIndex,
        },
      };
    case "SettlementCheckFailed":
      return {
        detail: `${capitalised(refusal.detail)}.`,
        cure: ownStateCure(refusal.rule) ?? PROBLEM_CATALOGUE.settlement_check_failed.cure,
        extensions: {
          signature: refusal.signature,
          rule: refusal.rule,
          instruction_index: refusal.instructionIndex,
        },
      };
    case "RelayQueueFull":
      return {
        detail: `${refusal.capacity} transactions are already pending.`,
        extensions: { signature: refusal.signature },
        headers: RETRY_WHEN_SOME_HAVE_LANDED,
      };
    case "RelayShareFull": {
      const holder = refusal.holder === "client" ? "client address" : "fee payer";
      return {
        detail: `This ${holder} already has its full share of the queue, at present ${refusal.share}.`,
        extensions: { signature: refusal.signature, holder: refusal.holder, share: refusal.share },
        headers: RETRY_WHEN_SOME_HAVE_LANDED,
      };
    }
    case "FeePayerRateLimited":
      return {
        detail: `The fee payer's budget is used up for ${refusal.resetSeconds} more seconds.`,
        extensions: { signature: refusal.signature },
        headers: { "retry-after": String(refusal.resetSeconds) },
      };
    case "IdempotencyKeyReused":
      return { detail: "This Idempotency-Key came with another body before." };
    case "IdempotencyKeyInFlight":
      return {
        detail: "The first request with this Idempotency-Key is not answered yet.",
        headers: RETRY_WHEN_ANSWERED,
      };
    case "TransactionNotFound":
      return {
        detail: "Neither this relay nor the ledger's history knows this signature.",
        extensions: { safe_to_sign_again: false },
      };
    case "FeePayerCannotPay":
      return {
        detail: `The fee payer holds ${refusal.balanceLamports} lamports; the fee is ${refusal.feeLamports}${
          refusal.rentMinimumLamports === null
            ? ""
            : `, and what is left must be at least ${refusal.rentMinimumLamports}, the rent minimum`
        }.`,
        extensions: { signature: refusal.signature },
      };
    case "TransactionRejected":
      return rejectionRecord(refusal);
    case "BlockhashExpired":
      return {
        detail:
          "The ledger does not accept the transaction's blockhash: it is too old, or newer than what is confirmed. It has not landed as far as is known. This request sent nothing.",
        extensions: { signature: refusal.signature },
      };
  }
};
