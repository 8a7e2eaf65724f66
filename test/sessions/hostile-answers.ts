import { encodeBase64 } from "../../core/domain/encoding/base64.ts";
import { LAST_UNIX_SECOND } from "../../core/domain/unix-time.ts";
import { callReceiptBytes, RECEIPT_HEADER } from "../../core/protocol/calls/call-receipt.ts";
import { HEAD_HEADER, sessionHeadBytes } from "../../core/protocol/calls/session-head.ts";
import { seededRandom } from "../arbitraries/seeded-random.ts";
import { type Forger, type Lie, problemAnswer, type Recorded } from "./forged-answers.ts";
import { anyBytes, anyText, below, flipped, oneOf, type Random } from "./hostile-vouchers.ts";
import type { WireAnswer } from "./seller-proxy.ts";

/** What a hostile seller answers a call by. */
export type Answering = {
  readonly forged: Forger;
  /** The true record of the call. */
  readonly honest: Recorded;
  /** The answer with a record that is true but for a lie. */
  readonly lied: (lie: Lie) => Promise<WireAnswer>;
};

/** One way to answer a call dishonestly. */
export type Hostile = {
  readonly what: string;
  readonly answer: (by: Answering) => Promise<WireAnswer | "drop"> | WireAnswer | "drop";
};

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The last second of a signed 64-bit number. */
const LAST_SECOND = 2n ** 63n - 1n;

const lies: ReadonlyArray<readonly [string, Lie]> = [
  ["a price above the limit", { priceOff: 1n }],
  ["a total that is higher", { totalOff: 1n }],
  ["a total that is lower", { totalOff: -1n }],
  ["the greatest total", { totalOff: -(10n ** 12n) }],
  ["another count", { countOff: 1 }],
  ["a count of before", { countOff: -1 }],
  ["another time", { secondsOff: 1n }],
  ["another time of the delivery", { deliveredOff: -1n }],
  ["a delivery after the year 9999", { deliveredOff: LAST_UNIX_SECOND }],
  ["a delivery at the end of time", { deliveredOff: LAST_SECOND - LAST_UNIX_SECOND }],
  ["a delivery before 1970", { deliveredOff: -LAST_UNIX_SECOND }],
  ["a final receipt", { isFinal: true }],
  ["another root", { isOtherRoot: true }],
  ["a signature of nobody", { isUnsigned: true }],
  ["an attestation of another session", { isOtherSession: true }],
];

/** The honest answer with another value of its receipt's header. */
const withReceipt = ({ forged, honest }: Answering, value: string): WireAnswer => {
  const answer = forged.receiptAnswer(honest, false);
  return { ...answer, headers: { ...answer.headers, [RECEIPT_HEADER]: value } };
};

/** Bytes of another length, the same as far as they go. */
const ofLength = (bytes: Uint8Array, length: number): Uint8Array =>
  Uint8Array.from({ length }, (_, at) => bytes[at] ?? 0);

/** Answers that no agent takes: the call is not given, and the session makes no further one. */
export const stoppingAnswers = (seeds: Random): ReadonlyArray<Hostile> => {
  const random = seededRandom(seeds() * 2 ** 32);
  return [
    ...lies.map(([what, lie]): Hostile => ({ what, answer: ({ lied }) => lied(lie) })),
    ...Array.from({ length: 6 }, (): Hostile => {
      const bits = seededRandom(random() * 2 ** 32);
      return {
        what: "flipped bits of the receipt",
        answer: ({ forged, honest }) =>
          forged.receiptAnswer(honest, false, (receipt) => flipped(bits, receipt)),
      };
    }),
    {
      what: "another length of the receipt",
      answer: (by) => {
        const receipt = callReceiptBytes(by.honest.head.receipt);
        const length = oneOf(random, [0, 100, 215, 217, 300]);
        return withReceipt(by, encodeBase64(ofLength(receipt, length)));
      },
    },
    {
      what: "any bytes for a receipt",
      answer: (by) => withReceipt(by, encodeBase64(anyBytes(random, below(random, 400)))),
    },
    { what: "any text for a receipt", answer: (by) => withReceipt(by, anyText(random)) },
    {
      what: "another body",
      answer: ({ forged, honest }) => ({
        ...forged.receiptAnswer(honest, false),
        body: utf8("another"),
      }),
    },
    {
      what: "another status",
      answer: ({ forged, honest }) => ({
        ...forged.receiptAnswer(honest, false),
        status: oneOf(random, [201, 402, 409, 500, 503]),
      }),
    },
    {
      what: "the receipt of the call before",
      answer: ({ forged, honest }) =>
        forged.receiptAnswer({ ...honest, head: forged.newest() ?? honest.head }, false, (bytes) =>
          forged.newest() === null ? flipped(random, bytes) : bytes,
        ),
    },
  ];
};

const behind = (random: Random): string => oneOf(random, ["call_delivered", "agent_is_behind"]);

/** Refusals that an agent hears, and may call again after. */
export const refusingAnswers = (seeds: Random): ReadonlyArray<Hostile> => {
  const random = seededRandom(seeds() * 2 ** 32);
  return [
    {
      what: "a record that nobody signed",
      answer: ({ honest: { head } }) =>
        problemAnswer(409, behind(random), flipped(random, sessionHeadBytes(head))),
    },
    {
      what: "a refusal of another name",
      answer: () =>
        problemAnswer(422, oneOf(random, ["another_total", "session_ended", "no_such_code"])),
    },
  ];
};

/** Answers of no form, of which an agent makes nothing. */
export const oddAnswers = (seeds: Random): ReadonlyArray<Hostile> => {
  const random = seededRandom(seeds() * 2 ** 32);
  const problem = (whole: string): WireAnswer => ({
    status: oneOf(random, [400, 409, 422, 500, 503]),
    headers: { "content-type": "application/problem+json" },
    body: utf8(whole),
  });
  return [
    {
      what: "a record of another length",
      answer: ({ honest: { head } }) => {
        const length = oneOf(random, [0, 176, 391, 393, 424, 5_000]);
        const bytes = ofLength(sessionHeadBytes(head), length);
        return problemAnswer(409, behind(random), flipped(random, Uint8Array.of(...bytes, 0)));
      },
    },
    {
      what: "any text for a record",
      answer: () => {
        const answer = problemAnswer(409, behind(random));
        return { ...answer, headers: { ...answer.headers, [HEAD_HEADER]: anyText(random) } };
      },
    },
    {
      what: "the record of the call before",
      answer: ({ forged }) => problemAnswer(409, behind(random), forged.newest()),
    },
    {
      what: "a name of more than one line",
      answer: () =>
        problem(JSON.stringify({ code: "no\ncalled 1 1 \u001b[2J", detail: "\u0007", status: 1 })),
    },
    {
      what: "a name that is none",
      answer: () =>
        problem(JSON.stringify({ code: oneOf(random, [null, 7, [], {}, "", "x".repeat(10_000)]) })),
    },
    {
      what: "a deep document",
      answer: () => problem(`${"[".repeat(60_000)}${"]".repeat(60_000)}`),
    },
    {
      what: "any bytes for a problem",
      answer: () => ({ ...problem(""), body: anyBytes(random, below(random, 300)) }),
    },
    {
      what: "an answer without a receipt",
      answer: ({ honest }) => ({ status: 200, headers: {}, body: honest.body }),
    },
  ];
};

/** Answers that pass: the same call is asked again, and given. */
export const passingAnswers: ReadonlyArray<Hostile> = [
  { what: "a cut connection", answer: () => "drop" },
  {
    what: "a proxy's error",
    answer: () => ({
      status: 502,
      headers: { "content-type": "text/html" },
      body: new Uint8Array(),
    }),
  },
  { what: "a busy session", answer: () => problemAnswer(409, "session_busy") },
  { what: "a ledger out of reach", answer: () => problemAnswer(503, "ledger_out_of_reach") },
  {
    what: "a problem without a code",
    answer: () => ({
      status: 503,
      headers: { "content-type": "application/problem+json" },
      body: utf8("[]"),
    }),
  },
  { what: "a seller that is behind", answer: () => problemAnswer(409, "seller_is_behind") },
];
