import { Effect } from "effect";
import type {
  InstructionBeyondBetaLimit,
  RelayRefusal,
} from "../../../core/use-cases/relay/relay-errors.ts";
import type { PaymentRefused } from "../../../core/use-cases/x402/payment-refused.ts";
import type { ApiFailure } from "../problems/api-failure.ts";
import { problemOfFailure } from "../problems/failure-problem.ts";
import { PROBLEM_CATALOGUE } from "../problems/problem-catalogue.ts";

/** Why a payment is refused, in x402's terms: a code, a line that names mistake and cure, and what is known of the payment. */
export type Refusal = {
  readonly code: string;
  readonly message: string;
  readonly agent: string | null;
  readonly escrow: string | null;
  readonly transaction: string;
};

/** The relay's refusals that say something of the payment. What passes by itself, such as a full queue, stays a problem with its own status. */
const OF_THE_PAYMENT = [
  "TransactionMalformed",
  "TransactionTooLarge",
  "SignatureMissing",
  "SignatureInvalid",
  "ProgramNotAllowed",
  "LookupTableNotAllowed",
  "DurableNonceNotAllowed",
  "ComputeBudgetExceeded",
  "ComputeBudgetInvalid",
  "SettlementCheckFailed",
  "FeePayerCannotPay",
  "TransactionRejected",
  "BlockhashExpired",
  "NotAnEscrow",
  "IdempotencyKeyReused",
  "IdempotencyKeyInFlight",
] as const satisfies ReadonlyArray<ApiFailure["_tag"]>;

type OfThePayment = Extract<ApiFailure, { readonly _tag: (typeof OF_THE_PAYMENT)[number] }>;

const NOTHING_KNOWN = { agent: null, escrow: null, transaction: "" };

const refusalOf = (failure: OfThePayment): Refusal => {
  const { code, detail, cure } = problemOfFailure(failure);
  return {
    ...NOTHING_KNOWN,
    code,
    message: `${detail} ${cure ?? PROBLEM_CATALOGUE[code].cure}`,
  };
};

const beyondBetaLimit = ({ faults }: InstructionBeyondBetaLimit): Refusal => ({
  ...NOTHING_KNOWN,
  code: "beta_limit_exceeded",
  message: `payload.create: ${faults.map(({ detail }) => detail).join("; ")}. ${PROBLEM_CATALOGUE.beta_limit_exceeded.cure}`,
});

/** The outcome of settling or verifying: its value, or the refusal as a value. Only what passes by itself still fails. */
export const orRefusal = <
  A,
  E extends PaymentRefused | InstructionBeyondBetaLimit | RelayRefusal | ApiFailure,
  R,
>(
  effect: Effect.Effect<A, E, R>,
) =>
  effect.pipe(
    Effect.map((value) => ({ value })),
    Effect.catch((failure) => {
      if (failure._tag === "PaymentRefused") {
        const { code, detail, cure, agent, escrow, transaction } = failure;
        const message = `${detail} ${cure}`;
        return Effect.succeed({
          refusal: { code, message, agent, escrow, transaction: transaction ?? "" },
        });
      }
      if (failure._tag === "InstructionBeyondBetaLimit")
        return Effect.succeed({ refusal: beyondBetaLimit(failure) });
      if ((OF_THE_PAYMENT as ReadonlyArray<string>).includes(failure._tag))
        return Effect.succeed({ refusal: refusalOf(failure as unknown as OfThePayment) });
      return Effect.fail(
        failure as Exclude<E, PaymentRefused | InstructionBeyondBetaLimit | OfThePayment>,
      );
    }),
  );
