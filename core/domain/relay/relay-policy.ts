/** The limits that the relay enforces and `GET /v1/relay` states. */
export const RELAY_POLICY = {
  encodings: ["base64"],
  transactionVersions: ["legacy", "0"],
  /** Most compute units a transaction may ask for (Agave `compute_budget_limits.rs`: MAX_COMPUTE_UNIT_LIMIT). */
  maxComputeUnits: 1_400_000,
  /** Highest price of a compute unit, micro-lamports: at most 0.007 SOL of priority fee. */
  maxComputeUnitPrice: 5_000_000n,
  /** Largest difference between the ledger's clock and the time that a preflight check uses, seconds. */
  clockMarginSeconds: 15n,
  /** Wait before a check is repeated when a pending transaction could remove its fault, milliseconds. */
  secondLookMs: 800,
  /**
   * Interval at which open outcomes are looked up, and transactions that have not landed are sent again, milliseconds.
   */
  rebroadcastMs: 2_000,
  /** Interval at which an outcome is looked up while `confirm` waits, milliseconds. */
  confirmPollMs: 200,
  /** Time limit of a simulation under `skip_preflight`, milliseconds. A slower one counts as no answer. */
  simulationPatienceMs: 2_000,
  /** The most transactions that wait for their outcome at one time. */
  queueCapacity: 1_000,
  /** The largest shares of one client and of one fee payer, while the queue is empty. */
  queueShareOfClient: 250,
  queueShareOfFeePayer: 50,
  /**
   * Blocks beyond the last valid one before a transaction counts as expired: a balancer's backends lag, and a list of an
   * address's history does not say its slot.
   */
  expiryMarginBlocks: 64n,
  /** Blocks beyond the last valid one, and milliseconds in the queue, after which an unknown outcome leaves the queue. */
  queueBlocks: 600n,
  queueMs: 3_600_000,
  /** Cost to the budgets of a relay that a check or a simulation shows to fail. */
  failedPreflightCost: 5,
  /** Total cost to the budgets of a relay that expires without landing. */
  expiredCost: 5,
  /** How long an Idempotency-Key is kept, milliseconds. */
  idempotencyKeyTtlMs: 86_400_000,
} as const;
