import { Data } from "effect";
import type { Address } from "../../domain/address.ts";
import type { PaymentFaultCode } from "../../protocol/x402/payment-fault.ts";

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
