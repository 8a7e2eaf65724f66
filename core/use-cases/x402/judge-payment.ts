import { Data, Effect } from "effect";
import { Instance } from "../../../ports/instance.ts";
import { Ledger } from "../../../ports/ledger/ledger.ts";
import type { Address } from "../../domain/address.ts";
import type { Json } from "../../domain/encoding/canonical-json.ts";
import type { Escrow } from "../../domain/escrow/escrow.ts";
import { listedMint } from "../../domain/supported-mint.ts";
import type { UnixSeconds } from "../../domain/unix-time.ts";
import { type PaymentPayload, readPayload } from "../../protocol/x402/payment-payload.ts";
import {
  faulty,
  type PaymentFault,
  type PaymentFaultCode,
  type PaymentPlace,
  type PaymentRequirements,
  type Read,
  readRequirements,
  type RequiredTerms,
  requirementsDigest,
  X402_VERSION,
  x402Network,
} from "../../protocol/x402/payment-requirements.ts";

/** The facilitator does not take an x402 payment. */
export class PaymentRefused extends Data.TaggedError("PaymentRefused")<{
  readonly code: PaymentFaultCode;
  /** What is wrong, one sentence or two. */
  readonly detail: string;
  readonly cure: string;
  /** The payer, null while it is not known. */
  readonly agent: Address | null;
  readonly escrow: Address | null;
  /** The transaction that was sent and whose outcome is not known yet, null in every other case. */
  readonly transaction: string | null;
}> {}

/** A payment as a seller hands it to its facilitator. */
export type PaymentRequest = {
  readonly version: number;
  /** The requirements that the buyer accepted. */
  readonly accepted: PaymentRequirements;
  readonly payload: { readonly [name: string]: Json };
  /** The seller's requirements; in a capture their amount may be less than the accepted one. */
  readonly requirements: PaymentRequirements;
};

/** A payment whose form is sound: its terms, its payload, and the base units that the seller asks for now. */
export type JudgedPayment = {
  readonly terms: RequiredTerms;
  readonly payment: PaymentPayload;
  readonly asked: bigint;
};

/** The failure of a fault, with what is known of the payment. */
export const refusedFor = (
  { code, detail, cure }: PaymentFault,
  known: Partial<Pick<PaymentPayload, "agent" | "escrow">> = {},
  transaction: string | null = null,
): PaymentRefused =>
  new PaymentRefused({
    code,
    detail,
    cure,
    agent: known.agent ?? null,
    escrow: known.escrow ?? null,
    transaction,
  });

const valueOf = <A>(read: Read<A>) =>
  "fault" in read ? Effect.fail(refusedFor(read.fault)) : Effect.succeed(read.value);

/** How far the clocks of two processes of one seller may be apart. */
const CLOCKS_APART_SECONDS = 60n;

/**
 * Base units that the seller asks for now, 1 to the accepted amount. The buyer may have accepted an earlier offer, with
 * earlier deadlines.
 */
const askedOf = (
  { accepted, requirements }: PaymentRequest,
  terms: RequiredTerms,
  operation: PaymentPayload["operation"],
  place: PaymentPlace,
): Read<bigint> => {
  const asked = readRequirements(requirements, place);
  const same = { ...requirements, amount: accepted.amount };
  return "value" in asked &&
    (operation === "capture"
      ? asked.value.amount <= terms.amount
      : asked.value.amount === terms.amount) &&
    terms.deadline <= asked.value.deadline + CLOCKS_APART_SECONDS &&
    requirementsDigest(same) === requirementsDigest(accepted)
    ? { value: asked.value.amount }
    : faulty(
        "requirements_mismatch",
        "The payment accepts other requirements than the seller's.",
        "Pay what this seller asks for; nothing was sent.",
      );
};

/** Decodes a payment and judges everything that needs no ledger. Fails with `PaymentRefused`. */
export const judgePayment = Effect.fnUntraced(function* (request: PaymentRequest) {
  const { deployment, supportedMints } = yield* Instance;
  const network = x402Network(yield* (yield* Ledger).genesisHash);
  if (request.version !== X402_VERSION)
    return yield* refusedFor(
      faulty(
        "unsupported_version",
        `The payment is of x402 version ${request.version}; the scheme is of ${X402_VERSION}.`,
        "Use x402 version 2.",
      ).fault,
    );
  const place = { network, custodyProgram: deployment.custodyProgram };
  const terms = yield* valueOf(readRequirements(request.accepted, place));
  if (listedMint(supportedMints, terms.mint) === undefined)
    return yield* refusedFor(
      faulty(
        "invalid_requirements",
        `The mint ${terms.mint} is none of this service's.`,
        `Ask for one of ${supportedMints.map(({ address }) => address).join(", ")}.`,
      ).fault,
    );
  const payment = yield* valueOf(readPayload(request.payload, terms, deployment));
  const amount = yield* valueOf(askedOf(request, terms, payment.operation, place));
  const judged: JudgedPayment = { terms, payment, asked: amount };
  return judged;
});

/**
 * Why an escrow on the ledger is not the payment, null when it is. It may have been made for an earlier offer, with an
 * earlier end.
 */
export const escrowFault = (escrow: Escrow, { terms }: JudgedPayment): PaymentFault | null => {
  const end = escrow.expiresAt < terms.deadline ? escrow.expiresAt : terms.deadline;
  const sides = (
    [
      ["merchant", terms.merchant, escrow.merchant],
      ["mint", terms.mint, escrow.mint],
      ["amount", terms.amount, escrow.amount],
      ["end", end, escrow.expiresAt],
      ["attestor", terms.attestor, escrow.attestor],
      ["session key", "none", escrow.sessionKey ?? "none"],
    ] as const
  ).filter(([, wanted, held]) => wanted !== held);
  return sides.length === 0
    ? null
    : faulty(
        "another_payment",
        `The escrow ${escrow.address} is on other terms: ${sides.map(([what, wanted, held]) => `${what} asked ${wanted}, escrowed ${held}`).join("; ")}.`,
        "Pay with another nonce.",
      ).fault;
};

/** Why an escrow cannot pay for a delivery at a ledger time, null when it can. */
export const spentFault = (escrow: Escrow, ledgerTime: UnixSeconds): PaymentFault | null => {
  if (escrow.state !== "Pending")
    return faulty(
      "payment_spent",
      `The escrow ${escrow.address} is ${escrow.state} already: a payment pays for one delivery.`,
      "Pay with another nonce; the packet of this one says what came of it.",
    ).fault;
  if (ledgerTime < escrow.expiresAt) return null;
  return faulty(
    "payment_expired",
    `The escrow ${escrow.address} has expired: it can only be refunded.`,
    "Refund it, and pay with another nonce.",
  ).fault;
};

/** The least part of the offered time that is left when a delivery begins: one fourth. */
const LEAST_PART = 4n;

/**
 * Why an escrow cannot pay for a delivery that begins at a ledger time, null when it can. `ttlSeconds` is the time that
 * the seller asked for. After the escrow's expiry nothing is released.
 */
export const lateFault = (
  escrow: Escrow,
  ledgerTime: UnixSeconds,
  { ttlSeconds }: Pick<RequiredTerms, "ttlSeconds">,
): PaymentFault | null => {
  const spent = spentFault(escrow, ledgerTime);
  if (spent !== null) return spent;
  const left = escrow.expiresAt - ledgerTime;
  if (left * LEAST_PART >= BigInt(ttlSeconds)) return null;
  return faulty(
    "payment_expired",
    `The escrow ${escrow.address} expires in ${left} s; when a delivery begins, a fourth of ${ttlSeconds} s must be left.`,
    "Refund it after its expiry, and pay with another nonce.",
  ).fault;
};
