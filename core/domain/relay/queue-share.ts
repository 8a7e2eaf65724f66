import { RELAY_POLICY } from "./relay-policy.ts";

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
