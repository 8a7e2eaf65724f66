import { seededRandom } from "../../arbitraries/seeded-random.ts";
import { type Forger, forger, problemAnswer } from "../forged-answers.ts";
import {
  type Hostile,
  passingAnswers,
  refusingAnswers,
  stoppingAnswers,
} from "../hostile-answers.ts";
import { type Battery, openCase, type OpenCase } from "../open-case.ts";
import type { WireAnswer, WireRequest } from "../seller-proxy.ts";
import type { Outcome } from "./outcome.ts";

/** The call at which the seller lies. */
const AT = 3;
const HOSTILE_RUNS = 3;

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
        return answer({
          forged,
          honest,
          lied: async (lie) =>
            forged.receiptAnswer(
              await forged.record(played.proxy.url, request, voucher, lie),
              false,
            ),
        });
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
    const behind = () => (head === null ? "drop" : problemAnswer(409, "agent_is_behind", head));
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
    return how === "its record" ? problemAnswer(409, "call_delivered", taken.head) : "drop";
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
export const hostileAnswerCases = (battery: Battery): ReadonlyArray<() => Promise<Outcome>> => {
  const random = seededRandom(battery.seed);
  return [
    ...[...stoppingAnswers(random), ...refusingAnswers(random)].map((each) =>
      lying(battery, each, false),
    ),
    ...passingAnswers.map((each) => lying(battery, each, true)),
  ];
};

/** Sellers that charge and give nothing, by different schedules. */
export const takerCases = (battery: Battery): ReadonlyArray<() => Promise<Outcome>> =>
  Array.from({ length: 8 }, (_, n) => swallowing(battery, n));
