import type { Scenario } from "../hostile-node/scenario.ts";

/** Why a scenario cannot be played before a node of another's making; undefined when it can. */
export const whySkipped = (scenario: Scenario): string | undefined => {
  if (scenario.prepare !== undefined)
    return "it changes the ledger before the first request, which a simulated one alone allows";
  if (scenario.notify !== undefined)
    return "it plays with notifications, and the syncs of this test are asked for";
  if (scenario.name === "recent-statuses-only")
    return "it plays with statuses, which no sync asks for";
  return undefined;
};
