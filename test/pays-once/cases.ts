import { seededRandom } from "../arbitraries/seeded-random.ts";

/**
 * When the client is killed: its request has arrived and goes no further, it was answered by the service but not to the
 * client, or the client has the answer.
 */
export const KILLS = ["before the service", "before the answer", "after the answer"] as const;
export type Kill = (typeof KILLS)[number];

/** What the proxy does to one request. */
export const FAULTS = [
  "lose the request",
  "lose the answer",
  "cut the answer",
  "duplicate",
  "delay",
  "answer 503",
  "answer 429",
  "restart the service",
] as const;
export type Fault = (typeof FAULTS)[number];

/**
 * One case: the client is killed at one request and another of its requests meets a fault. Requests are counted over
 * all runs, from 0.
 */
export type Case = {
  readonly name: string;
  readonly kill: { readonly at: number; readonly when: Kill; readonly afterMs: number };
  readonly fault: { readonly at: number; readonly what: Fault; readonly delayMs: number };
  /** Whether two processes run at the same time with the same nonce. */
  readonly isTwofold: boolean;
};

/**
 * Every client that pays sends at least this number of requests: prepare, relay. Ours begins with a look at the escrow.
 */
const KILL_WITHIN = 3;
/** Behind the kill the same requests come again. */
const FAULT_WITHIN = 7;
const TWOFOLD_EVERY = 5;
/** Without a common divisor with the number of kills or of faults, so that neighbours differ in both. */
const STRIDE = 5;
const MOST_DELAY_MS = 400;
const MOST_AFTER_MS = 30;

/**
 * Cases that depend on the seed alone. Every kill at every request comes within nine of them, and every fault within
 * eight.
 */
export const casesOf = (seed: number, count: number): ReadonlyArray<Case> => {
  const random = seededRandom(seed);
  const below = (most: number): number => Math.floor(random() * most);
  const shift = below(KILLS.length * KILL_WITHIN * FAULTS.length);
  return Array.from({ length: count }, (_, n) => {
    const place = n * STRIDE + shift;
    const when = KILLS[place % KILLS.length] ?? "before the answer";
    const what = FAULTS[place % FAULTS.length] ?? "delay";
    const kill = {
      at: Math.floor((place % (KILLS.length * KILL_WITHIN)) / KILLS.length),
      when,
      afterMs: when === "after the answer" ? below(MOST_AFTER_MS) : 0,
    };
    const fault = { at: below(FAULT_WITHIN), what, delayMs: below(MOST_DELAY_MS) };
    const isTwofold = n % TWOFOLD_EVERY === TWOFOLD_EVERY - 1;
    const name = `${n}: killed ${when} of request ${kill.at}; ${what} at request ${fault.at}${isTwofold ? "; two at once" : ""}`;
    return { name, kill, fault, isTwofold };
  });
};
