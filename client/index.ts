/** The entry of the client package: paying, waiting for the settlement, and verifying its evidence. */

export { connect } from "./connect.ts";
export type { ConnectOptions, SettlementClient } from "./connect.ts";
export type { ClientClock } from "./service/requests.ts";
export { SettlementError } from "./settlement-error.ts";
export type { AcceptedSigner, TransactionSigner } from "./signing/sign-transaction.ts";
export { memoryJournal } from "./pay/spend-limits.ts";
export type { SpendEntry, SpendJournal, SpendLimits } from "./pay/spend-limits.ts";
export { memorySessionJournal } from "./sessions/agent/memory-journal.ts";
export { payFetch } from "./sessions/agent/pay-fetch.ts";
export type { PayFetch } from "./sessions/agent/pay-fetch.ts";
export type { PayPolicy } from "./sessions/agent/pay-policy.ts";
export type { PaidSession } from "./sessions/agent/paying-sessions.ts";
export type {
  PaidAnswer,
  Session,
  SessionOptions,
  SessionStanding,
  ShownOfCall,
} from "./sessions/agent/session.ts";
export type { EndedSession, SessionLamports } from "./sessions/agent/end-session.ts";
export type { SessionPlan } from "./sessions/agent/open-session.ts";
export type {
  AgentState,
  SessionJournal,
  SessionOpening,
} from "./sessions/agent/session-journal.ts";
export type { Payment } from "./pay/payment-terms.ts";
export type { Paid } from "./pay/pay.ts";
export type { Refunded } from "./pay/refund.ts";
export type { Settled, SettledOptions } from "./pay/settled.ts";
export type { SettlementNews } from "./pay/settlement-events.ts";
export type { DeliveryJudgement, DeliveryPayload, Validate } from "./pay/delivery.ts";
export * from "./verify.ts";
