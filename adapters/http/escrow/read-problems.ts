/** The problems of every operation that reads one escrow. */
export const READ_ESCROW_PROBLEMS = [
  "invalid_address",
  "escrow_not_found",
  "not_an_escrow",
  "archived_unseen",
  "ledger_unavailable",
  "ledger_timeout",
] as const;
