import type { Scenario } from "./scenario.ts";
import { ACCOUNTS } from "./scenarios/accounts.ts";
import { HISTORIES } from "./scenarios/history.ts";
import { IDENTITIES } from "./scenarios/identity.ts";
import { LIMITS } from "./scenarios/limits.ts";
import { POOLS } from "./scenarios/pools.ts";
import { SIGNALS } from "./scenarios/signals.ts";
import { TRANSPORT } from "./scenarios/transport.ts";

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
