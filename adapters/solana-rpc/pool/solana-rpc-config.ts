import type { Redacted } from "effect";

/** What one kind of call may cost. Times are milliseconds. */
export type LaneLimits = {
  /** How long one node may take for one request, body included. */
  readonly requestTimeoutMs: number;
  /** How long a whole call may take, all nodes and all waiting included. */
  readonly callTimeoutMs: number;
  /** How long, in sum, a call waits for a node to become usable again; 0 fails at once. */
  readonly patienceMs: number;
  /** Bytes of an answer, after decompression. */
  readonly maxBodyBytes: number;
};

/**
 * `single` is every small question; `bulk` the scan of a program's accounts. Each has its own circuit
 * breaker on each node: a node too weak to scan still answers questions.
 */
export type Lane = "single" | "bulk";

/** Where the nodes are and how they are treated. */
export type SolanaRpcConfig = {
  /** At least one http or https address, in order of preference. They may hold API keys. */
  readonly urls: readonly [Redacted.Redacted<URL>, ...ReadonlyArray<Redacted.Redacted<URL>>];
  readonly lanes: Readonly<Record<Lane, LaneLimits>>;
  /** How often one call asks the same node, at least 1. */
  readonly attemptsPerNode: number;
  /** Wait before the first retry, doubled for each further one up to `backoffCapMs`, before jitter. */
  readonly backoffBaseMs: number;
  readonly backoffCapMs: number;
  /** The longest `Retry-After` that is honoured, milliseconds. */
  readonly retryAfterCapMs: number;
};

const MIB = 1024 * 1024;

/** Limits that suit public nodes as well as one on the same machine. */
export const solanaRpcConfig = (urls: SolanaRpcConfig["urls"]): SolanaRpcConfig => ({
  urls,
  lanes: {
    single: {
      requestTimeoutMs: 4_000,
      callTimeoutMs: 10_000,
      patienceMs: 2_000,
      maxBodyBytes: 16 * MIB,
    },
    bulk: {
      requestTimeoutMs: 60_000,
      callTimeoutMs: 180_000,
      patienceMs: 30_000,
      maxBodyBytes: 256 * MIB,
    },
  },
  attemptsPerNode: 3,
  backoffBaseMs: 200,
  backoffCapMs: 30_000,
  retryAfterCapMs: 300_000,
});
