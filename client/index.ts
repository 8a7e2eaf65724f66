/** The entry of the client package: paying, waiting for the settlement, and verifying its evidence. */

export { connect } from "./connect.ts";
export type { ConnectOptions, SettlementClient } from "./connect.ts";
export type { ClientClock } from "./service/requests.ts";
export { SettlementError } from "./settlement-error.ts";
export type { AcceptedSigner, TransactionSigner } from "./signing/sign-transaction.ts";
export { memoryJournal } from "./pay/spend-limits.ts";
export type { SpendEntry, SpendJournal, SpendLimits } from "./pay/spend-limits.ts";
export type { Payment } from "./pay/payment-terms.ts";
export type { Paid } from "./pay/pay.ts";
export type { Refunded } from "./pay/refund.ts";
export type { Settled, SettledOptions } from "./pay/settled.ts";
export type { SettlementNews } from "./pay/settlement-events.ts";
export type { DeliveryJudgement, DeliveryPayload, Validate } from "./pay/delivery.ts";
export * from "./verify.ts";
