/** The problems of every prepare operation on an escrow. */
export const PREPARE_PROBLEMS = [
  "invalid_address",
  "escrow_not_found",
  "not_an_escrow",
  "wrong_state",
  "ledger_unavailable",
  "ledger_timeout",
] as const;
