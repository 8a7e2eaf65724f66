import { seededRandom } from "../../arbitraries/seeded-random.ts";
import { type Forger, forger, type Lie, problemAnswer } from "../forged-answers.ts";
import { type Battery, openCase, type OpenCase } from "../open-case.ts";
import type { WireAnswer, WireRequest } from "../seller-proxy.ts";
import type { Outcome } from "./outcome.ts";

/** The call at which the seller lies. */
const AT = 3;
const HOSTILE_RUNS = 3;

/** One way to answer a call dishonestly. */
type Hostile = {
  readonly what: string;
  readonly answer: (
    forged: Forger,
    honest: Awaited<ReturnType<Forger["record"]>>,
    lied: (lie: Lie) => Promise<WireAnswer>,
  ) => Promise<WireAnswer | "drop"> | WireAnswer | "drop";
};

const lies: ReadonlyArray<readonly [string, Lie]> = [
  ["a price above the limit", { priceOff: 1n }],
  ["a total that is higher", { totalOff: 1n }],
  ["a total that is lower", { totalOff: -1n }],
  ["another count", { countOff: 1 }],
  ["a count of before", { countOff: -1 }],
  ["another time", { secondsOff: 1n }],
  ["a final receipt", { isFinal: true }],
  ["another root", { isOtherRoot: true }],
  ["a signature of nobody", { isUnsigned: true }],
];

const flipped = (bytes: Uint8Array, bit: number): Uint8Array => {
  const copy = Uint8Array.from(bytes);
  const at = Math.floor(bit / 8) % copy.length;
  copy.set([(copy[at] ?? 0) ^ (1 << (bit % 8))], at);
  return copy;
};

/** Answers that no agent takes: the call is not given, and nothing more is signed. */
const stopping = (random: () => number): ReadonlyArray<Hostile> => [
  ...lies.map(([what, lie]): Hostile => ({ what, answer: (_, __, lied) => lied(lie) })),
  ...Array.from({ length: 6 }, (): Hostile => {
    const bit = 64 + Math.floor(random() * (216 - 8) * 8);
    return {
      what: `bit ${bit} of the receipt is flipped`,
      answer: (forged, honest) =>
        forged.receiptAnswer(honest, false, (receipt) => flipped(receipt, bit)),
    };
  }),
  {
    what: "another body",
    answer: (forged, honest) => ({
      ...forged.receiptAnswer(honest, false),
      body: new TextEncoder().encode("another"),
    }),
  },
  {
    what: "the receipt of the call before",
    answer: (forged, honest) => {
      const head = forged.newest();
      return forged.receiptAnswer(head === null ? honest : { ...honest, head }, false);
    },
  },
  {
    what: "a record that nobody signed",
    answer: (forged, { head }) =>
      problemAnswer(409, "call_delivered", flipped(forged.headBytes(head), 8 * 350)),
  },
  { what: "a refusal of another name", answer: () => problemAnswer(422, "another_total") },
];

/** Answers that pass: the same call is asked again, and given. */
const passing: ReadonlyArray<Hostile> = [
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
      body: new TextEncoder().encode("[]"),
    }),
  },
];

const outcome = async (played: OpenCase, forged: Forger): Promise<Outcome> => {
  const more = forged.takeable();
  if (more > played.limit)
    played.faults.push(
      `a hostile attestor can take ${more} for nothing, ${played.limit} are one limit`,
    );
  return {
    name: played.name,
    faults: [...new Set(played.faults)],
    said: [...played.proxy.seen, ...played.said],
  };
};

/** A seller that is honest until a call, and lies there: always, or once. */
const lying =
  (battery: Battery, { what, answer }: Hostile, passes: boolean) =>
  async () => {
    const forged = forger(battery);
    let hasLied = false;
    const played: OpenCase = await openCase(battery, `answers: ${what}`, {
      calls: AT,
      instead: async (request) => {
        const voucher = forged.voucherIn(request);
        if (voucher === null) return null;
        if (voucher.isClosing) return problemAnswer(422, "voucher_not_signed");
        const honest = await forged.record(played.proxy.url, request, voucher);
        if (voucher.count < AT || (passes && hasLied)) return forged.receiptAnswer(honest, true);
        hasLied = true;
        return answer(forged, honest, async (lie) =>
          forged.receiptAnswer(await forged.record(played.proxy.url, request, voucher, lie), false),
        );
      },
    });
    try {
      if (passes) {
        await played.run({ CLOSE: "0" });
        if (played.told().calls.size !== AT) played.faults.push(`call ${AT} was not given`);
      } else {
        for (let run = 0; run < 2; run++) await played.runOnce({ CLOSE: "0" });
        await played.run();
        const { calls, refused, ended } = played.told();
        if (calls.has(AT)) played.faults.push(`call ${AT} counts as given`);
        if (refused.length === 0) played.faults.push("the buyer heard no refusal");
        if (ended?.outcome !== "closing")
          played.faults.push(`the session is ${ended?.outcome}, not closed on the ledger`);
      }
      if (!hasLied) played.faults.push("no lie was told");
      return await outcome(played, forged);
    } finally {
      await played.stop();
    }
  };

/** What a seller that charges and gives nothing answers to each sending of a call, in turn. */
const SWALLOWS = ["silence", "an error", "its record", "its record at the next call"] as const;

/** A seller that is honest until a call, and from there on charges each voucher and gives no answer. */
const swallowing = (battery: Battery, n: number) => async (): Promise<Outcome> => {
  const random = seededRandom(battery.seed + n);
  const forged = forger(battery);
  const answered = async (
    origin: string,
    request: WireRequest,
  ): Promise<WireAnswer | "drop" | null> => {
    const voucher = forged.voucherIn(request);
    if (voucher === null) return null;
    const head = forged.newest();
    const behind = () =>
      head === null ? "drop" : problemAnswer(409, "agent_is_behind", forged.headBytes(head));
    if (voucher.isClosing) return behind();
    if (voucher.count < AT)
      return forged.receiptAnswer(await forged.record(origin, request, voucher), true);
    // A record that the agent has not taken may be for the call before this one.
    if (head !== null && head.voucher.count >= voucher.count) return behind();
    const taken = await forged.record(origin, request, voucher);
    const how = SWALLOWS[Math.floor(random() * SWALLOWS.length)];
    if (how === "an error") return problemAnswer(503, "store_unusable");
    if (how === "silence") return "drop";
    forged.take(taken.head);
    return how === "its record"
      ? problemAnswer(409, "call_delivered", forged.headBytes(taken.head))
      : "drop";
  };
  const played: OpenCase = await openCase(battery, `taker ${n}: charges and gives nothing`, {
    calls: AT + 4,
    instead: (request) => answered(played.proxy.url, request),
  });
  try {
    for (let run = 0; run < HOSTILE_RUNS; run++) await played.runOnce({ CLOSE: "0" });
    await played.runOnce();
    return await outcome(played, forged);
  } finally {
    await played.stop();
  }
};

/** Every dishonest answer to a buyer, each in a session of its own. */
export const hostileAnswerCases = (battery: Battery): ReadonlyArray<() => Promise<Outcome>> => [
  ...stopping(seededRandom(battery.seed)).map((each) => lying(battery, each, false)),
  ...passing.map((each) => lying(battery, each, true)),
];

/** Sellers that charge and give nothing, by different schedules. */
export const takerCases = (battery: Battery): ReadonlyArray<() => Promise<Outcome>> =>
  Array.from({ length: 8 }, (_, n) => swallowing(battery, n));
