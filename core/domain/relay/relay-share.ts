import { RELAY_POLICY } from "./relay-policy.ts";

/**
 * How many places of the relay's queue one client may hold while `free` are free, [1, 250]: it shrinks with
 * the square of the part that is free. Whoever comes first keeps what it has: clients who take all they may, one
 * after another, fill the queue with 30 of them if a share is a quarter of what is free, and with 136 like this.
 */
export const clientShare = (free: number): number => {
  const { queueCapacity, queueShareOfClient } = RELAY_POLICY;
  return Math.max(1, Math.floor(queueShareOfClient * (free / queueCapacity) ** 2));
};

/** The same for one fee payer, [1, 50]: the client's share up to a limit of its own. */
export const feePayerShare = (free: number): number =>
  Math.min(RELAY_POLICY.queueShareOfFeePayer, clientShare(free));
