import { Effect } from "effect";
import type { Escrow } from "../../domain/escrow/escrow.ts";
import { evidenceDigest } from "../../domain/evidence/evidence-signature.ts";
import type { LedgerSignature } from "../../domain/ledger/signature.ts";
import { evidenceData } from "../../protocol/evidence/evidence-data.ts";
import { faulty } from "../../protocol/x402/payment-requirements.ts";
import {
  createFault,
  releasingProof,
  settlingFault,
} from "../../protocol/x402/payment-transactions.ts";
import { Broadcaster } from "../../../ports/ledger/broadcaster.ts";
import { Instance } from "../../../ports/instance.ts";
import { Ledger } from "../../../ports/ledger/ledger.ts";
import { findEscrow, type LiveEscrow } from "../escrow/read-escrow.ts";
import { admitTransaction } from "../relay/relay-admission.ts";
import { relayTransaction } from "../relay/relay-transaction.ts";
import {
  escrowFault,
  type JudgedPayment,
  judgePayment,
  type PaymentRequest,
  refusedFor,
  lateFault,
  spentFault,
} from "./judge-payment.ts";

/** What a settlement came to. */
export type SettledPayment = {
  readonly escrow: Escrow;
  readonly network: string;
  /** The transaction that did it; null where another one had done it before. */
  readonly transaction: LedgerSignature | null;
  /**
   * The `digest_sha256` of the escrow's packet; null while the escrow is Pending, since its packet is made anew at each
   * reading.
   */
  readonly digest: string | null;
};

const RELEASED: ReadonlySet<Escrow["state"]> = new Set(["Fulfilled", "PartiallyFulfilled"]);

/** The payment's escrow, null where there is none yet. */
export const paymentEscrow = Effect.fnUntraced(function* (judged: JudgedPayment) {
  const { payment } = judged;
  const live = yield* findEscrow(payment.escrow).pipe(
    Effect.catchTag("EscrowNotFound", () => Effect.succeed(null)),
    Effect.catchTag("EscrowArchived", () =>
      Effect.fail(
        refusedFor(
          faulty(
            "payment_spent",
            `The escrow ${payment.escrow} was settled and archived.`,
            "Pay with another nonce.",
          ).fault,
          payment,
        ),
      ),
    ),
    Effect.catchTag("InvalidAddress", (failure) => Effect.die(failure)),
  );
  const fault = live === null ? null : escrowFault(live.escrow, judged);
  if (fault !== null) return yield* refusedFor(fault, payment);
  return live;
});

/** Sends a transaction and waits until it is confirmed. Fails with `settlement_pending` when it is not in time. */
const relayConfirmed = Effect.fnUntraced(function* (
  base64: string,
  { payment }: JudgedPayment,
  client: string,
) {
  const result = yield* relayTransaction({
    signedTransaction: base64,
    confirm: true,
    skipPreflight: false,
    client,
  });
  if (result.status !== "submitted") return result.signature;
  return yield* refusedFor(
    faulty(
      "settlement_pending",
      `The transaction ${result.signature} was sent and is not confirmed yet.`,
      "Settle the same again: it is never done twice.",
    ).fault,
    payment,
    result.signature,
  );
});

/**
 * The signature of a transaction that has landed, null for one that has not: another one did its work. A transaction
 * whose signatures do not verify can bear the signature of any other, so it names nothing.
 */
const landedSignature = Effect.fnUntraced(function* (base64: string | null) {
  const admitted = yield* Effect.result(admitTransaction(base64 ?? ""));
  if (admitted._tag === "Failure") return null;
  const { signature } = admitted.success.transaction;
  const landed = yield* (yield* Broadcaster).landed(signature);
  return landed !== null && landed.error === null ? signature : null;
});

/** The digest of a settled escrow's packet, which its account alone decides. */
const digestOf = Effect.fnUntraced(function* ({ escrow, account, slot, ledgerTime }: LiveEscrow) {
  if (escrow.state === "Pending") return null;
  const { deployment, cluster } = yield* Instance;
  const genesisHash = yield* (yield* Ledger).genesisHash;
  const network = { ...deployment, cluster, genesisHash };
  return evidenceDigest(evidenceData({ network, escrow, account, slot, ledgerTime })).digest;
});

const missing = ({ payment }: JudgedPayment, detail: string, cure: string) =>
  refusedFor(faulty("payment_missing", detail, cure).fault, payment);

/** The refusal of a payment without an escrow and without a transaction that makes it. */
export const notMade = (judged: JudgedPayment) =>
  missing(
    judged,
    `There is no escrow ${judged.payment.escrow}, and payload.create would make none.`,
    "Sign create_escrow and send it as payload.create.",
  );

const notShown = (judged: JudgedPayment) =>
  missing(
    judged,
    `The ledger does not show the escrow ${judged.payment.escrow} yet.`,
    "Settle the same again: it is never done twice.",
  );

const lockMoney = Effect.fnUntraced(function* (judged: JudgedPayment, client: string) {
  const { terms, payment } = judged;
  const { deployment } = yield* Instance;
  const before = yield* paymentEscrow(judged);
  const { create } = payment;
  if (create === null && before === null) return yield* notMade(judged);
  const fault = create === null ? null : createFault(create, terms, payment, deployment);
  if (fault !== null) return yield* refusedFor(fault, payment);
  const sent =
    before === null && create !== null
      ? yield* Effect.result(relayConfirmed(create, judged, client))
      : null;
  // Whatever became of this transaction: an escrow that is there pays, whoever made it.
  const live = before ?? (yield* paymentEscrow(judged));
  if (live === null && sent?._tag === "Failure") return yield* sent.failure;
  if (live === null) return yield* notShown(judged);
  const transaction = sent?._tag === "Success" ? sent.success : yield* landedSignature(create);
  const spent = lateFault(live.escrow, live.ledgerTime, terms);
  if (spent !== null) return yield* refusedFor(spent, payment);
  return { live, transaction };
});

const endEscrow = Effect.fnUntraced(function* (judged: JudgedPayment, client: string) {
  const { payment, asked } = judged;
  const { operation, settlement } = payment;
  const { deployment } = yield* Instance;
  const before = yield* paymentEscrow(judged);
  if (before === null || settlement === null)
    return yield* missing(
      judged,
      `There is no escrow ${payment.escrow} to settle.`,
      "Settle the authorization first.",
    );
  const fault = settlingFault(settlement, payment, { amount: asked }, deployment);
  if (fault !== null) return yield* refusedFor(fault, payment);
  // A release with another proof paid for another delivery, such as one of a second process with the same payment.
  const proof = releasingProof(settlement, deployment);
  const isDone = ({ escrow }: LiveEscrow): boolean =>
    operation === "void"
      ? escrow.state === "Refunded"
      : RELEASED.has(escrow.state) &&
        escrow.released === asked &&
        escrow.attestation?.proofHash === proof;
  if (isDone(before)) return { live: before, transaction: yield* landedSignature(settlement) };
  const spent = spentFault(before.escrow, before.ledgerTime);
  if (spent !== null) return yield* refusedFor(spent, payment);
  const sent = yield* Effect.result(relayConfirmed(settlement, judged, client));
  const live = yield* paymentEscrow(judged);
  if (live === null) return yield* notShown(judged);
  if (sent._tag === "Success" && isDone(live)) return { live, transaction: sent.success };
  // Another transaction was first, and did the same.
  if (isDone(live)) return { live, transaction: yield* landedSignature(settlement) };
  if (sent._tag === "Failure") return yield* sent.failure;
  return yield* notShown(judged);
});

/**
 * Settles an x402 payment of the scheme `auth-capture`: sends the buyer's `create_escrow` to authorize, the seller's
 * release to capture, the merchant's cancellation to void. It verifies everything itself, signs nothing, and can be
 * repeated: what is done already is found. Fails with `PaymentRefused`, and as `relayTransaction` does. See
 * docs/x402.md.
 */
export const settlePayment = Effect.fn("settlePayment")(function* (
  request: PaymentRequest,
  client: string,
) {
  const judged = yield* judgePayment(request);
  const { live, transaction } = yield* judged.payment.operation === "authorize"
    ? lockMoney(judged, client)
    : endEscrow(judged, client);
  const settled: SettledPayment = {
    escrow: live.escrow,
    network: request.requirements.network,
    transaction,
    digest: yield* digestOf(live),
  };
  return settled;
});
