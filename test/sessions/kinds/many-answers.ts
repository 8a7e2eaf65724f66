import { createHash } from "node:crypto";
import { cp, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Address } from "../../../core/domain/address.ts";
import type { SessionTerms } from "../../../core/protocol/calls/session-terms.ts";
import { seededRandom } from "../../arbitraries/seeded-random.ts";
import { type Forger, forger, problemAnswer } from "../forged-answers.ts";
import {
  type Hostile,
  oddAnswers,
  passingAnswers,
  refusingAnswers,
  stoppingAnswers,
} from "../hostile-answers.ts";
import { oneOf, type Random } from "../hostile-vouchers.ts";
import { type Battery, openCase, type OpenCase } from "../open-case.ts";
import type { WireAnswer, WireRequest } from "../seller-proxy.ts";
import type { Outcome } from "./outcome.ts";

/** The calls that a life has when nobody stops it. */
const CALLS = 12;
/** A life is run this often: a process that ended goes on by its journal. */
const RUNS = 2;
/** Lives whose journals are on the disk at most at once, and the messages that one takes at least in the mean. */
const AT_ONCE = 25;
const MESSAGES_OF_ONE = 2;
const TRY_AGAIN = 75;
/** Faults after which a case ends. */
const MOST_FAULTS = 5;

/**
 * A session from its first call on, before a seller that is honest or lies at each of its messages. All lives of a case
 * are of one escrow: each begins with the journal as it was when the session was opened.
 */
type Life = {
  readonly name: string;
  readonly random: Random;
  readonly forged: Forger;
  /** The lines that the buyer has to print, one for each honest answer. */
  readonly given: Array<string>;
  /** What the agent had spent before each count, by its vouchers. */
  readonly before: Map<number, bigint>;
  /** The lie that no agent goes on after. */
  stoppedBy: string | null;
};

/** What a seller answers next: the truth, a lie that stops the session, or one that does not. */
const drawn = (random: Random): { readonly hostile: Hostile | null; readonly stops: boolean } => {
  const kind = random();
  if (kind < 0.3) return { hostile: null, stops: false };
  if (kind < 0.5) return { hostile: oneOf(random, stoppingAnswers(random)), stops: true };
  const others = [...passingAnswers, ...refusingAnswers(random), ...oddAnswers(random)];
  return { hostile: oneOf(random, others), stops: false };
};

/** Answers one message of a life, and says whatever its buyer must not have sent. */
const answered = async (
  { proxy, limit, faults }: OpenCase,
  life: Life,
  request: WireRequest,
): Promise<{ readonly answer: WireAnswer | "drop"; readonly what: string | null }> => {
  const { name, forged, given, before, random } = life;
  const fault = (says: string) => faults.push(`life ${name}: ${says}`);
  const refused = { answer: problemAnswer(422, "voucher_not_signed"), what: null };
  const voucher = forged.voucherIn(request);
  if (voucher === null) {
    fault(`${request.target} came without a voucher`);
    return refused;
  }
  if (life.stoppedBy !== null) fault(`went on after ${life.stoppedBy}`);
  if (voucher.count !== given.length + 1)
    fault(`vouches for call ${voucher.count} after ${given.length} answers`);
  if (forged.takeable() > limit) fault(`vouches for ${forged.takeable()} more than it was given`);
  const spent = voucher.total - voucher.limit;
  if ((before.get(voucher.count) ?? spent) !== spent)
    fault(`vouches for another total before call ${voucher.count}`);
  before.set(voucher.count, spent);
  const origin = proxy.url;
  const honest = await forged.record(origin, request, voucher);
  const { hostile, stops } = drawn(random);
  if (hostile === null) {
    const body = createHash("sha256").update(honest.body).digest("hex");
    given.push(`called ${voucher.count} ${honest.head.receipt.delivery.price} ${body}`);
    return { answer: forged.receiptAnswer(honest, true), what: null };
  }
  const newest = forged.newest();
  if (stops) life.stoppedBy = hostile.what;
  const answer = await hostile.answer({
    forged,
    honest,
    lied: async (lie) =>
      forged.receiptAnswer(await forged.record(origin, request, voucher, lie), false),
  });
  if (stops || newest === null || random() > 0.02) return { answer, what: hostile.what };
  // An attestor that signs two histories, at some of the other messages.
  life.stoppedBy = "a second record of the call before";
  const second = await forged.secondRecord(newest);
  return { answer: problemAnswer(409, "agent_is_behind", second), what: life.stoppedBy };
};

/** Compares what the runs of a life printed with what its seller answered. */
const judge = (faults: Array<string>, life: Life, printed: ReadonlyArray<string>): void => {
  const fault = (says: string) => faults.push(`life ${life.name}: ${says}`);
  const called = printed.filter((line) => line.startsWith("called "));
  if (called.join("\n") !== life.given.join("\n"))
    fault(`says ${called.join(", ") || "nothing"}; was given ${life.given.join(", ")}`);
  for (const line of printed)
    if (!/^(?:opened \w+|called \d+ \d+ [0-9a-f]{64}|refused \w{1,64}|unpaid \d+)$/.test(line))
      fault(`prints ${JSON.stringify(line.slice(0, 200))}`);
};

/** Runs journals after each other, each by a process of its own or all by one. Gives what each run printed. */
const runAll = async (
  battery: Battery,
  played: OpenCase,
  journals: ReadonlyArray<string>,
): Promise<ReadonlyArray<readonly [name: string, printed: ReadonlyArray<string>]>> => {
  const runs: Array<readonly [string, ReadonlyArray<string>]> = [];
  const ended = (journal: string, code: string, printed: ReadonlyArray<string>, said: string) => {
    if (code !== "0" && code !== `${TRY_AGAIN}`)
      played.faults.push(`life ${basename(journal)}: the buyer ended with ${code}: ${said}`);
    runs.push([basename(journal), printed]);
  };
  if (battery.buyers === undefined) {
    for (const journal of journals) {
      const SELLER_URL = `${played.proxy.url}/${basename(journal)}`;
      const code = await played.runOnce({ CLOSE: "0", JOURNAL: journal, SELLER_URL });
      const [said = "", ...printed] = played.said.splice(0);
      ended(journal, `${code}`, printed, said);
    }
    return runs;
  }
  await played.runOnce({ CLOSE: "0", JOURNALS: journals.join("\n") });
  const [said = "", ...lines] = played.said.splice(0);
  let printed: Array<string> = [];
  for (const line of lines) {
    const [word, code = ""] = line.split(" ");
    if (word !== "exit") {
      printed.push(line);
      continue;
    }
    ended(journals[runs.length] ?? "", code, printed, said);
    printed = [];
  }
  if (runs.length < journals.length) played.faults.push(`the buyer is gone: ${said}`);
  return runs;
};

/** A seller that is honest or lies at each message, in as many lives of a session as the messages last for. */
const hostileSeller =
  (battery: Battery, n: number, messages: number) => async (): Promise<Outcome> => {
    const name = `many-answers ${n}: ${messages} of a hostile seller`;
    const terms = new Map<Address, SessionTerms>();
    const lives = new Map<string, Life>();
    const told = new Map<string, number>();
    const sent = () => [...told.values()].reduce((sum, times) => sum + times, 0);
    let [begun, calls] = [0, 0];
    const buyer = battery.buyers ?? battery.buyer;
    const played: OpenCase = await openCase({ ...battery, buyer }, name, {
      calls: CALLS,
      price: "0.001",
      instead: async (request) => {
        const [, life = "", ...rest] = request.target.split("/");
        const living = lives.get(life);
        if (living === undefined || rest[0] !== "quotes") return problemAnswer(404, "no_quote");
        const { answer, what } = await answered(played, living, request);
        if (what !== null) told.set(what, (told.get(what) ?? 0) + 1);
        return answer;
      },
    });
    try {
      await played.runOnce({ CALLS: "0", CLOSE: "0", JOURNALS: played.journal });
      played.said.splice(0);
      while (sent() < messages && played.faults.length <= MOST_FAULTS) {
        const journals: Array<string> = [];
        const wanted = Math.ceil((messages - sent()) / MESSAGES_OF_ONE);
        for (let at = 0; at < Math.min(AT_ONCE, wanted); at++) {
          const life = `${++begun}`;
          const journal = join(`${played.journal}-lives`, life);
          await cp(played.journal, journal, { recursive: true });
          journals.push(...Array.from({ length: RUNS }, () => journal));
          lives.set(life, {
            name: life,
            random: seededRandom(battery.seed + n * 1_000_003 + begun),
            forged: forger(battery, terms),
            given: [],
            before: new Map(),
            stoppedBy: null,
          });
        }
        const runs = await runAll(battery, played, journals);
        for (const [life, living] of lives) {
          const printed = runs.filter(([ran]) => ran === life).flatMap(([, lines]) => lines);
          judge(played.faults, living, printed);
          calls += living.given.length;
        }
        lives.clear();
        await rm(`${played.journal}-lives`, { recursive: true, force: true });
      }
      if (calls === 0) played.faults.push("no call was given");
      const named = [...told].map(([what, times]) => `${what} ${times}`).join(", ");
      return {
        name: `${name}; ${sent()} sent in ${begun} lives, ${calls} calls; ${named}`,
        faults: played.faults,
        said: [],
      };
    } finally {
      await played.stop();
    }
  };

/** Hostile answers to a buyer, in four sessions. */
export const manyAnswerCases = (
  battery: Battery,
  messages: number,
): ReadonlyArray<() => Promise<Outcome>> =>
  [0, 1, 2, 3].map((n) => hostileSeller(battery, n, Math.ceil(messages / 4)));
