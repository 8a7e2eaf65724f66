import { decodeBase64, encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import type { Delivered } from "./seller-context.ts";

/**
 * Paid answers, each by the escrow that paid for it, so that a buyer whose connection drops can present the payment
 * again and get the answer. They do not hold the nonce that proves the buyer. When a store loses one, no money is lost:
 * the buyer is told `payment_spent`.
 */
export type KeptAnswers = {
  /**
   * Keeps an answer, a text of at most 1.5 million characters, until `untilMs` (milliseconds since 1970). Replaces an
   * earlier one for the escrow.
   */
  readonly keep: (escrow: string, answer: string, untilMs: number) => Promise<void>;
  /** The answer that is kept for an escrow, null without one. */
  readonly find: (escrow: string) => Promise<string | null>;
};

/** What a handler answered, and how it is settled. */
export type KeptAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** What is attested of it. */
  readonly delivered: Delivered;
  /** Base units for the merchant, decimal. */
  readonly amount: string;
  /** The signed release, base64. */
  readonly release: string;
};

/** The longest body that is kept, bytes. */
const MOST_BODY_BYTES = 1_048_576;
/** The most headers that are kept, characters. */
const MOST_HEADERS = 16_384;
/** What a process keeps in memory: answers, and characters of them all. The oldest give way. */
const MOST_ANSWERS = 1_000;
const MOST_CHARACTERS = 67_108_864;

/**
 * Headers of one message or one connection (RFC 9110, sections 6.6.1, 7.6.1 and 8.6), of a session, and those that x402
 * sets.
 */
const NOT_KEPT = new Set([
  "connection",
  "content-length",
  "date",
  "keep-alive",
  "payment-response",
  "set-cookie",
  "settlement-overrides",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** The text that stands for an answer, null for one that is too large to be kept. */
export const keptText = ({ body, headers, ...rest }: KeptAnswer): string | null => {
  const kept = Object.entries(headers).filter(([name]) => !NOT_KEPT.has(name.toLowerCase()));
  if (body.length > MOST_BODY_BYTES || JSON.stringify(kept).length > MOST_HEADERS) return null;
  return JSON.stringify({
    ...rest,
    headers: Object.fromEntries(kept),
    body: encodeBase64(new Uint8Array(body)),
  });
};

/** The answer that a text of `keptText` stands for. @throws SyntaxError for a text that is no JSON. */
export const keptAnswer = (text: string): KeptAnswer => {
  const answer = JSON.parse(text) as Omit<KeptAnswer, "body"> & { readonly body: string };
  return { ...answer, body: decodeBase64(answer.body) ?? new Uint8Array() };
};

/** Answers in this process: at most 1,000, and 64 million characters. */
export const memoryAnswers = (nowMs: () => number = Date.now): KeptAnswers => {
  const kept = new Map<string, { readonly answer: string; readonly untilMs: number }>();
  let characters = 0;
  const forget = (escrow: string): void => {
    characters -= kept.get(escrow)?.answer.length ?? 0;
    kept.delete(escrow);
  };
  const forgetLate = (): void => {
    const now = nowMs();
    for (const [escrow, { untilMs }] of kept) if (untilMs <= now) forget(escrow);
  };
  return {
    keep: (escrow, answer, untilMs) => {
      forgetLate();
      forget(escrow);
      kept.set(escrow, { answer, untilMs });
      characters += answer.length;
      for (const [oldest] of kept) {
        if (kept.size <= MOST_ANSWERS && characters <= MOST_CHARACTERS) break;
        forget(oldest);
      }
      return Promise.resolve();
    },
    find: (escrow) => {
      forgetLate();
      return Promise.resolve(kept.get(escrow)?.answer ?? null);
    },
  };
};

/**
 * Which payments a seller is delivering for at this moment, so that two requests with one payment are not both
 * answered. Sellers in several processes share one, such as a table with a unique key.
 */
export type PaymentClaims = {
  /**
   * Claims an escrow. True for the first caller; false for others until the claim is dropped, or `untilMs`
   * (milliseconds since 1970) has passed.
   */
  readonly take: (escrow: string, untilMs: number) => Promise<boolean>;
  /** Ends a claim. */
  readonly drop: (escrow: string) => Promise<void>;
  /** Where paid answers are kept, to be given again; in memory when left out. */
  readonly answers?: KeptAnswers;
};

/**
 * Claims and answers in this process. A claim whose handler never ends is forgotten when its escrow has expired.
 * @example
 * import { memoryClaims } from "settlement-evidence/x402";
 *
 * const claims = memoryClaims();
 * await claims.take("escrow", Date.now() + 60_000); // => true
 * await claims.take("escrow", Date.now() + 60_000); // => false
 */
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
