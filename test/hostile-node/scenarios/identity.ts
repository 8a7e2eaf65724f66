import type { Scenario } from "../scenario.ts";

/** Nodes that are not what they were. */
export const IDENTITIES: ReadonlyArray<Scenario> = [
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
