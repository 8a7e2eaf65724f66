/** The limits the relay enforces; `GET /v1/relay` states them from here. */
export const RELAY_POLICY = {
  encodings: ["base64"],
  transactionVersions: ["legacy", "0"],
  /** Most compute units a transaction may ask for (Agave `compute_budget_limits.rs`: MAX_COMPUTE_UNIT_LIMIT). */
  maxComputeUnits: 1_400_000,
  /** Highest price of a compute unit, micro-lamports: at most 0.007 SOL of priority fee. */
  maxComputeUnitPrice: 5_000_000n,
  /** How far the ledger's clock may be from what a check before sending judges by, seconds. */
  clockMarginSeconds: 15n,
  /** How long a check waits before it looks again at what a transaction under way could cure, milliseconds. */
  secondLookMs: 800,
  /** How often an open outcome is looked for and, until it has landed, the transaction sent again, milliseconds. */
  rebroadcastMs: 2_000,
  /** How often an outcome is looked for while `confirm` waits, milliseconds. */
  confirmPollMs: 200,
  /** How long a simulation whose verdict is skipped may take before it counts as silent, milliseconds. */
  simulationPatienceMs: 2_000,
  /** Transactions that wait for their outcome at one time. */
  queueCapacity: 1_000,
  /** The most of them that are of one client, or of one fee payer, while the queue is empty. */
  queueShareOfClient: 250,
  queueShareOfFeePayer: 50,
  /** What a relay costs of its budgets when a check or a simulation finds that it would fail. */
  failedPreflightCost: 5,
  /** What a relay costs of its budgets in all when it expires without landing. */
  expiredCost: 5,
  /** How long an Idempotency-Key is remembered, and how long one may be in flight, milliseconds. */
  idempotencyKeyTtlMs: 86_400_000,
  idempotencyInFlightMs: 120_000,
} as const;
