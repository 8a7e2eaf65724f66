/** The entry `./sessions` of the client package: a seller's side of sessions, which are one escrow for many calls. */

export { memorySessions } from "./sessions/store/memory-sessions.ts";
export type {
  KeptCall,
  KeptSession,
  Reservation,
  SentAnswer,
  SessionStore,
  StoredSession,
} from "./sessions/store/session-store.ts";
export { SettlementError } from "./settlement-error.ts";
