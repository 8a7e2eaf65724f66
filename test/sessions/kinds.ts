import { killCases, manyCalls, postgresCases, roundRobinCases } from "./kinds/kills.ts";
import type { Outcome } from "./kinds/outcome.ts";
import { hostileAgentCases } from "./kinds/hostile-agent.ts";
import { hostileAnswerCases, takerCases } from "./kinds/hostile-seller.ts";
import { manyAnswerCases } from "./kinds/many-answers.ts";
import { fullDiskCases, restoredCases } from "./kinds/stores.ts";
import { clockCases, oldFinalCases, redirectCases } from "./kinds/worlds.ts";
import type { Battery } from "./open-case.ts";

/** How much is played of each kind. */
export type Amounts = {
  readonly cases: number;
  readonly calls: number;
  readonly messages: number;
  readonly answers: number;
};

type Cases = ReadonlyArray<() => Promise<Outcome>>;

const ALL: Readonly<Record<string, (battery: Battery, amounts: Amounts) => Cases>> = {
  "kill-agent": (battery, { cases }) => killCases("agent")(battery, cases),
  "kill-seller": (battery, { cases }) => killCases("seller")(battery, cases),
  "round-robin": (battery, { cases }) => roundRobinCases(battery, Math.ceil(cases / 5)),
  postgres: (battery, { cases }) => postgresCases(battery, Math.ceil(cases / 5)),
  calls: (battery, { calls }) => manyCalls(calls)(battery),
  restored: restoredCases,
  "full-disk": fullDiskCases,
  clocks: clockCases,
  redirects: redirectCases,
  "old-final": oldFinalCases,
  messages: (battery, { messages }) => hostileAgentCases(battery, messages),
  answers: hostileAnswerCases,
  "many-answers": (battery, { answers }) => manyAnswerCases(battery, answers),
  taker: takerCases,
};

/** The names of all kinds, in the order in which they are played. */
export const KINDS: ReadonlyArray<string> = Object.keys(ALL);

/** Every kind with its cases. */
export const kindsOf = (
  battery: Battery,
  amounts: Amounts,
): ReadonlyArray<readonly [kind: string, cases: Cases]> =>
  Object.entries(ALL).map(([kind, cases]) => [kind, cases(battery, amounts)]);

/** Plays cases, some at the same time, and tells of each as it ends. */
export const inLanes = async (
  cases: Cases,
  lanes: number,
  tell: (outcome: Outcome) => void,
): Promise<void> => {
  const waiting = [...cases];
  const lane = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) tell(await next());
  };
  await Promise.all(Array.from({ length: lanes }, lane));
};
