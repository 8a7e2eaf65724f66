import type { Redacted } from "effect";

/** The limits of one pool's requests. Times are milliseconds. */
export type PoolLimits = {
  /** Time limit of one request to one node, body included. */
  readonly requestTimeoutMs: number;
  /** Time limit of a whole call: all nodes, retries and waits. */
  readonly callTimeoutMs: number;
  /** The same for background work. */
  readonly backgroundTimeoutMs: number;
  /** Total time that background work waits for nodes that limit requests. */
  readonly backgroundPatienceMs: number;
  /** Total time that a call waits for nodes to become usable; 0 fails at once. */
  readonly patienceMs: number;
  /** Total time that a call waits for nodes that are behind. */
  readonly behindPatienceMs: number;
  /** The largest answer in bytes, after decompression. */
  readonly maxBodyBytes: number;
};

/**
 * `bulk` is for scans of a program's accounts, `single` for every other request. Each node has one circuit breaker per
 * pool: a node that is too weak to scan still answers small requests.
 */
export type Pool = "single" | "bulk";

/** The addresses of the nodes and the retry policy. */
export type SolanaRpcConfig = {
  /** At least one http or https address, in order of preference. They may hold API keys. */
  readonly urls: readonly [Redacted.Redacted<URL>, ...ReadonlyArray<Redacted.Redacted<URL>>];
  /** The genesis hash that every node must show; null when the first one shown counts. */
  readonly genesisHash: string | null;
  readonly pools: Readonly<Record<Pool, PoolLimits>>;
  /** Attempts of one call at each node, at least 1. */
  readonly attemptsPerNode: number;
  /** Wait before the first retry, doubled for each further one up to `backoffCapMs`, before jitter. */
  readonly backoffBaseMs: number;
  readonly backoffCapMs: number;
  /** The longest `Retry-After` that is respected, milliseconds. */
  readonly retryAfterCapMs: number;
};

const MIB = 1024 * 1024;

/** Limits that suit public nodes and a node on the same machine. */
export const solanaRpcConfig = (urls: SolanaRpcConfig["urls"]): SolanaRpcConfig => ({
  urls,
  genesisHash: null,
  pools: {
    single: {
      requestTimeoutMs: 4_000,
      callTimeoutMs: 10_000,
      backgroundTimeoutMs: 60_000,
      backgroundPatienceMs: 30_000,
      patienceMs: 2_000,
      behindPatienceMs: 8_000,
      maxBodyBytes: 16 * MIB,
    },
    bulk: {
      requestTimeoutMs: 60_000,
      callTimeoutMs: 180_000,
      backgroundTimeoutMs: 180_000,
      backgroundPatienceMs: 30_000,
      patienceMs: 30_000,
      behindPatienceMs: 30_000,
      maxBodyBytes: 256 * MIB,
    },
  },
  attemptsPerNode: 3,
  backoffBaseMs: 200,
  backoffCapMs: 30_000,
  retryAfterCapMs: 300_000,
});
