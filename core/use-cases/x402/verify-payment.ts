import { Effect } from "effect";
import { Instance } from "../../../ports/instance.ts";
import { Ledger } from "../../../ports/ledger/ledger.ts";
import { clientGroup } from "../../domain/relay/relay-policy.ts";
import {
  SESSION_SCHEME,
  X402_SCHEME,
  X402_VERSION,
  x402Network,
} from "../../protocol/x402/payment-requirements.ts";
import { createFault } from "../../protocol/x402/payment-transactions.ts";
import { admitTransaction } from "../relay/relay-admission.ts";
import { chargingFailure, checkBlockhash, preflightRelay } from "../relay/relay-preflight.ts";
import { KnownBlockhashes } from "../service/transaction-terms.ts";
import { judgePayment, lateFault, type PaymentRequest, refusedFor } from "./judge-payment.ts";
import { notMade, paymentEscrow } from "./settle-payment.ts";

/**
 * The payer of a payment that settling before the handler would take now, as far as a simulation tells. Sends nothing.
 * A simulation that fails takes from the client's budget what a relay's does. Fails with `PaymentRefused`, and as the
 * checks of `relayTransaction` do.
 */
export const verifyPayment = Effect.fn("verifyPayment")(function* (
  request: PaymentRequest,
  client: string,
) {
  const judged = yield* judgePayment(request);
  const { terms, payment } = judged;
  const { deployment } = yield* Instance;
  const live = yield* paymentEscrow(judged);
  const spent = live === null ? null : lateFault(live.escrow, live.ledgerTime, terms);
  if (spent !== null) return yield* refusedFor(spent, payment);
  if (payment.create === null) {
    if (live !== null) return payment.agent;
    return yield* notMade(judged);
  }
  const fault = createFault(payment.create, terms, payment, deployment);
  if (fault !== null) return yield* refusedFor(fault, payment);
  const admitted = yield* admitTransaction(payment.create);
  if (live !== null) return payment.agent;
  const known = yield* (yield* KnownBlockhashes)(admitted.transaction.blockhash);
  if (known === null) yield* checkBlockhash(admitted.transaction);
  // The fee payer is not charged: nothing is sent, and whoever has the payment can have it verified.
  const charged = { feePayer: null, client: clientGroup(client) };
  yield* preflightRelay(admitted, false, known).pipe(chargingFailure(charged));
  return payment.agent;
});

/**
 * What sellers can offer with this facilitator: version, schemes, network and the programs that hold the money. It
 * settles the first scheme; calls of sessions are their sellers' own.
 */
export const supportedPayments = Effect.fn("supportedPayments")(function* () {
  const { deployment } = yield* Instance;
  const genesisHash = yield* (yield* Ledger).genesisHash;
  return {
    version: X402_VERSION,
    schemes: [X402_SCHEME, SESSION_SCHEME],
    network: x402Network(genesisHash),
    custody: deployment.custodyProgram,
    attestorProgram: deployment.attestorProgram,
  };
});
