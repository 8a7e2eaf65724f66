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
  /** How long a transaction that was sent just now is left alone by these rounds, milliseconds. */
  firstRoundMs: 1_500,
  /** How long a slot takes from `confirmed` to `finalized`, milliseconds: 32 slots. */
  finalityMs: 12_800,
  /**
   * Wait before an outcome is looked up while `confirm` waits, milliseconds. From the third look on it grows by this
   * factor each time, up to `rebroadcastMs`.
   */
  confirmPollMs: 500,
  confirmPollFactor: 1.4,
  /** Time limit of a simulation under `skip_preflight`, milliseconds. A slower one counts as no answer. */
  simulationPatienceMs: 2_000,
  /** The most transactions that wait for their outcome at one time. */
  queueCapacity: 1_000,
  /** The largest shares of one client and of one fee payer, while the queue is empty. */
  queueShareOfClient: 250,
  queueShareOfFeePayer: 50,
  /**
   * Blocks beyond the last valid one before a transaction counts as expired: a balancer's backends lag, and a list of
   * an address's history does not say its slot.
   */
  expiryMarginBlocks: 64n,
  /**
   * Blocks beyond the last valid one, and milliseconds in the queue, after which an unknown outcome leaves the queue.
   */
  queueBlocks: 600n,
  queueMs: 3_600_000,
  /** Cost to the budgets of a relay that a check or a simulation shows to fail. */
  failedPreflightCost: 5,
  /** Total cost to the budgets of a relay that expires without landing. */
  expiredCost: 5,
  /** How long an Idempotency-Key is kept, milliseconds. */
  idempotencyKeyTtlMs: 86_400_000,
} as const;

/** The eight 16-bit groups of an IPv6 address (RFC 4291, section 2.2), undefined for any other text. */
const ipv6Groups = (text: string): ReadonlyArray<number> | undefined => {
  const dotted = /^(.*:)(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  const bytes = dotted?.slice(2).map(Number) ?? [];
  if (bytes.some((byte) => byte > 255)) return undefined;
  const [a = 0, b = 0, c = 0, d = 0] = bytes;
  const tail = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  const halves = (dotted === null ? text : `${dotted[1]}${tail}`).split("::");
  if (halves.length > 2) return undefined;
  const [head = [], rest = []] = halves.map((half) => (half === "" ? [] : half.split(":")));
  const missing = 8 - head.length - rest.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const groups = [...head, ...Array.from({ length: missing }, () => "0"), ...rest];
  return groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))
    ? groups.map((group) => Number.parseInt(group, 16))
    : undefined;
};

/**
 * The client that a network address counts as. An IPv6 address counts as its /64, because one subscriber holds at least
 * that many. An IPv4-mapped one (`::ffff:192.0.2.1`) counts as the IPv4 address, and any other text as itself.
 */
export const clientGroup = (client: string): string => {
  // Most requests come from an IPv4 address, and parsing costs a thirtieth of a short one.
  if (!client.includes(":")) return client;
  const groups = ipv6Groups(client.replace(/%.*$/s, ""));
  if (groups === undefined) return client;
  const [g0, g1, g2, g3, g4, g5, g6 = 0, g7 = 0] = groups;
  if (g5 === 0xffff && [g0, g1, g2, g3, g4].every((group) => group === 0)) {
    return [g6 >> 8, g6 & 255, g7 >> 8, g7 & 255].join(".");
  }
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(":")}::/64`;
};

/**
 * The entries of the relay's queue that one client may have while `free` are free, [1, 250]. The share shrinks with the
 * square of the free part: 136 clients that each use their full share fill the queue. With a share of a quarter of
 * what is free, 30 clients would fill it.
 */
export const clientShare = (free: number): number => {
  const { queueCapacity, queueShareOfClient } = RELAY_POLICY;
  return Math.max(1, Math.floor(queueShareOfClient * (free / queueCapacity) ** 2));
};

/** The share of one fee payer, [1, 50]: the client's share, up to a limit of its own. */
export const feePayerShare = (free: number): number =>
  Math.min(RELAY_POLICY.queueShareOfFeePayer, clientShare(free));
