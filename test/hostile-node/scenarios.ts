import type { Scenario, Reply } from "./scenario.ts";
import { ACCOUNTS } from "./scenarios/accounts.ts";
import { HISTORIES } from "./scenarios/history.ts";
import { TRANSPORT } from "./scenarios/transport.ts";

const slowDown = (seconds: number): Reply => ({
  http: { status: 429, headers: { "retry-after": String(seconds) }, body: "Too many requests" },
});

/**
 * A provider that counts requests in windows. So that a run does not last, a window ends with the second refusal
 * instead of by the clock.
 */
const rateLimited = (
  name: string,
  limits: { readonly all: number; readonly each: number },
  isUsual: boolean,
): Scenario => ({
  name,
  does: `takes ${limits.all} requests and ${limits.each} of one method, then answers 429 with Retry-After`,
  isUsual,
  play: ({ backend }) => {
    const used = new Map<string, number>();
    let all = 0;
    let refused = 0;
    return (call) => {
      const own = used.get(call.method) ?? 0;
      if (all < limits.all && own < limits.each) {
        all += 1;
        used.set(call.method, own + 1);
        return backend.answer(call);
      }
      refused += 1;
      if (refused % 2 === 0) {
        used.clear();
        all = 0;
      }
      return slowDown(0);
    };
  },
});

/** Providers with limits. */
const LIMITS: ReadonlyArray<Scenario> = [
  rateLimited("rate-limited", { all: 100, each: 40 }, true),
  // Fewer requests than a sync has at once: it may fail, and the next one goes on from what was read.
  rateLimited("tightly-rate-limited", { all: 20, each: 5 }, false),
  {
    name: "scans-limited",
    does: "answers every getProgramAccounts with 429",
    isUsual: false,
    play:
      ({ backend }) =>
      (call) =>
        call.method === "getProgramAccounts" ? slowDown(0) : backend.answer(call),
  },
];

type Logs = { readonly value: { readonly signature: string; readonly err: unknown } };

/** How many failing transactions a stranger sends for each that lands. */
const FAILING = 67;

/** Nodes whose notifications mislead. */
const SIGNALS: ReadonlyArray<Scenario> = [
  {
    name: "failed-transaction-flood",
    does: `notifies of ${FAILING} failed transactions for each that landed`,
    isUsual: true,
    play:
      ({ backend }) =>
      (call) =>
        backend.answer(call),
    notify: () => (notification) => {
      const { value, ...others } = notification as Logs;
      const failed = { ...value, err: { InstructionError: [0, { Custom: 6000 }] } };
      return [
        ...Array.from({ length: FAILING }, () => ({ ...others, value: failed })),
        notification,
      ];
    },
  },
  {
    name: "silent-notifications",
    does: "notifies of nothing",
    isUsual: true,
    play:
      ({ backend }) =>
      (call) =>
        backend.answer(call),
    notify: () => () => [],
  },
];

/** Nodes that are not what they were. */
const IDENTITIES: ReadonlyArray<Scenario> = [
  {
    name: "genesis-swap",
    does: "serves another, empty ledger after five requests",
    isUsual: false,
    play: ({ backend, foreign }) => {
      let requests = 0;
      return (call) => (++requests > 5 ? foreign : backend).answer(call);
    },
  },
  {
    name: "two-ledgers",
    does: "serves each request from one of two ledgers",
    isUsual: false,
    play:
      ({ backend, foreign, random }) =>
      (call) =>
        (random() < 0.3 ? foreign : backend).answer(call),
  },
];

/** A balancer whose backends lag up to `slots` behind; each request goes to any of them. */
const laggingPool = (slots: number): Scenario => ({
  name: `lagging-pool-${slots}`,
  does: `answers each request from a backend that lags 0 to ${slots} slots`,
  isUsual: true,
  lagSlots: slots,
  // A list of signatures may be as old as its backend. The next sync reads its newest part again.
  hidesMerchants: true,
  play:
    ({ random, backend }) =>
    (call) =>
      backend.answer(call, Math.floor(random() * (slots + 1))),
});

/** Pools behind one address. */
const POOLS: ReadonlyArray<Scenario> = [2, 5, 10, 30].map(laggingPool);

/** A node that tells the truth, to compare with. */
export const HONEST: Scenario = {
  name: "honest",
  does: "answers truthfully",
  isUsual: true,
  play:
    ({ backend }) =>
    (call) =>
      backend.answer(call),
};

/** Every scenario that the tests play. */
export const SCENARIOS: ReadonlyArray<Scenario> = [
  HONEST,
  ...POOLS,
  ...LIMITS,
  ...HISTORIES,
  ...ACCOUNTS,
  ...TRANSPORT,
  ...IDENTITIES,
  ...SIGNALS,
];

/** The scenario of a name. @throws Error for an unknown one. */
export const scenarioOf = (name: string): Scenario => {
  const found = SCENARIOS.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no scenario ${name}`);
  return found;
};
