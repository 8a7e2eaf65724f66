import type { Scenario } from "../scenario.ts";

type Logs = { readonly value: { readonly signature: string; readonly err: unknown } };

/** How many failing transactions a stranger sends for each that lands. */
export const FAILING = 67;

/** Nodes whose notifications mislead. */
export const SIGNALS: ReadonlyArray<Scenario> = [
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
