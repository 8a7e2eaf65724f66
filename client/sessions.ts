/** The entry `./sessions` of the client package: a seller's side of sessions, which are one escrow for many calls. */

export { sessionSeller } from "./sessions/seller/session-seller.ts";
export type {
  PaidHandler,
  SellerOptions,
  SessionSeller,
} from "./sessions/seller/session-seller.ts";
export type { PendingCapture, SignedSession } from "./sessions/seller/settle-session.ts";
export type { PaidCall } from "./sessions/seller/seller-context.ts";
export { sellHono } from "./sessions/frameworks/hono.ts";
export { sellExpress } from "./sessions/frameworks/express.ts";
export { sellFastify } from "./sessions/frameworks/fastify.ts";
export { paidCall } from "./sessions/frameworks/paid-call.ts";
export {
  attestorService,
  keepingAttestor,
  memorySessionClaims,
  remoteAttestor,
} from "./sessions/seller/session-attestor.ts";
export type {
  AttestedSession,
  SessionAttestor,
  SessionClaim,
  SessionClaims,
} from "./sessions/seller/session-attestor.ts";
export { memorySessions } from "./sessions/store/memory-sessions.ts";
export { type PostgresQuery, postgresSessions } from "./sessions/store/postgres-sessions.ts";
export {
  type SqliteDatabase,
  sqliteSessions,
  type SqliteSessionsOptions,
} from "./sessions/store/sqlite-sessions.ts";
export type { LeasedSessions } from "./sessions/store/sql-sessions.ts";
export type { SqlSessionsOptions } from "./sessions/store/session-tables.ts";
export type {
  KeptCall,
  KeptSession,
  Reservation,
  SentAnswer,
  SessionStore,
  StagedCall,
  StoredSession,
} from "./sessions/store/session-store.ts";
export type { ClientClock } from "./service/requests.ts";
export type { MessageSigner, SellerKey } from "./signing/sign-transaction.ts";
export { SettlementError } from "./settlement-error.ts";
