import { Effect } from "effect";
import { faulty } from "../../protocol/x402/payment-fault.ts";
import { createFault } from "../../protocol/x402/payment-transactions.ts";
import { Instance } from "../../../ports/instance.ts";
import { admitTransaction } from "../relay/relay-admission.ts";
import { checkBlockhash, preflightRelay } from "../relay/relay-preflight.ts";
import { judgePayment, lateFault, type PaymentRequest, refusedFor } from "./judge-payment.ts";
import { paymentEscrow } from "./settle-payment.ts";

/**
 * The payer of a payment that settling before the handler would take now, as far as a simulation tells. Sends nothing. Fails with `PaymentRefused`, and as the
 * checks of `relayTransaction` do.
 */
export const verifyPayment = Effect.fn("verifyPayment")(function* (request: PaymentRequest) {
  const judged = yield* judgePayment(request);
  const { terms, payment } = judged;
  const { deployment } = yield* Instance;
  const found = yield* paymentEscrow(judged);
  const spent = found === null ? null : lateFault(found.escrow, found.ledgerTime);
  if (spent !== null) return yield* refusedFor(spent, payment);
  if (payment.create === null) {
    if (found !== null) return payment.agent;
    return yield* refusedFor(
      faulty(
        "payment_missing",
        `There is no escrow ${payment.escrow}, and payload.create would make none.`,
        "Sign create_escrow and send it as payload.create.",
      ).fault,
      payment,
    );
  }
  const fault = createFault(payment.create, terms, payment, deployment);
  if (fault !== null) return yield* refusedFor(fault, payment);
  const { transaction, bytes } = yield* admitTransaction(payment.create);
  if (found !== null) return payment.agent;
  yield* checkBlockhash(transaction);
  yield* preflightRelay(transaction, bytes, false);
  return payment.agent;
});
