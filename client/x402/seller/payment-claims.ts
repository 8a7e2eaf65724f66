import { type KeptAnswers, memoryAnswers } from "./kept-answers.ts";

/**
 * Which payments a seller is delivering for at this moment, so that two requests with one payment are not both answered. Sellers in several processes share one, such
 * as a table with a unique key.
 */
export type PaymentClaims = {
  /** True for the first who takes an escrow; false until it is dropped, or `untilMs` (milliseconds since 1970) has passed. */
  readonly take: (escrow: string, untilMs: number) => Promise<boolean>;
  /** Ends a claim. */
  readonly drop: (escrow: string) => Promise<void>;
  /** Where paid answers are kept, to be given again; in memory when left out. */
  readonly answers?: KeptAnswers;
};

/** Claims and answers in this process. A claim whose handler never ends is forgotten when its escrow has expired. */
export const memoryClaims = (nowMs: () => number = Date.now): PaymentClaims => {
  const taken = new Map<string, number>();
  return {
    take: (escrow, untilMs) => {
      const now = nowMs();
      for (const [each, until] of taken) if (until <= now) taken.delete(each);
      if (taken.has(escrow)) return Promise.resolve(false);
      taken.set(escrow, untilMs);
      return Promise.resolve(true);
    },
    drop: (escrow) => {
      taken.delete(escrow);
      return Promise.resolve();
    },
    answers: memoryAnswers(nowMs),
  };
};
