/** What can be wrong with an x402 payment, as `errorReason` and `invalidReason` name it. The list only grows. */
export const PAYMENT_FAULT_CODES = [
  "unsupported_version",
  "unsupported_scheme",
  "unsupported_network",
  "invalid_requirements",
  "invalid_payload",
  "requirements_mismatch",
  "another_custody",
  "another_escrow",
  "another_transaction",
  "another_payment",
  "another_amount",
  "payment_missing",
  "payment_spent",
  "payment_expired",
  "settlement_pending",
] as const;

/** One of the codes. */
export type PaymentFaultCode = (typeof PAYMENT_FAULT_CODES)[number];

/** Why a payment is refused, and what to do about it. Both are one sentence or two. */
export type PaymentFault = {
  readonly code: PaymentFaultCode;
  readonly detail: string;
  readonly cure: string;
};

/** A value, or why there is none. */
export type Read<A> = { readonly value: A } | { readonly fault: PaymentFault };

/** A fault as the outcome of reading something. */
export const faulty = (
  code: PaymentFaultCode,
  detail: string,
  cure: string,
): { readonly fault: PaymentFault } => ({ fault: { code, detail, cure } });
