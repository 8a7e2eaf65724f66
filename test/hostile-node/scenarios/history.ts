import type { Scenario, Stage } from "../scenario.ts";
import type { RpcCall, RpcAnswer } from "../../world/rpc-answer.ts";

const LIST = "getSignaturesForAddress";
const HISTORY_METHODS = new Set([LIST, "getTransaction", "getFirstAvailableBlock"]);

type Listed = { readonly signature: string; readonly slot: number };
type Options = { readonly limit?: number; readonly minContextSlot?: number };

const optionsOf = ({ params }: RpcCall): Options => params[1] ?? {};

/** A node that changes the lists of signatures and nothing else. */
const listing = (
  scenario: Omit<Scenario, "play">,
  change: (list: ReadonlyArray<Listed>, call: RpcCall, stage: Stage) => ReadonlyArray<Listed>,
): Scenario => ({
  ...scenario,
  play: (stage) => async (call) => {
    const answer: RpcAnswer = await stage.backend.answer(call);
    if (call.method !== LIST || "error" in answer) return answer;
    return { result: change(answer.result as ReadonlyArray<Listed>, call, stage) };
  },
});

/** A node that refuses every method of the history with one code. */
const withoutHistory = (name: string, does: string, code: number): Scenario => ({
  name,
  does,
  isUsual: true,
  hidesMerchants: true,
  play:
    ({ backend }) =>
    (call) =>
      HISTORY_METHODS.has(call.method)
        ? { error: { code, message: "not served" } }
        : backend.answer(call),
});

/** Every third signature, always the same ones whatever the page. */
const isLost = ({ signature }: Listed): boolean => Bun.hash(signature) % 3n === 0n;

/** Nodes whose history is short, has holes or is not served. */
export const HISTORIES: ReadonlyArray<Scenario> = [
  listing(
    {
      name: "capped-pages",
      does: "lists at most three signatures a page, whatever limit it is asked for",
      isUsual: true,
    },
    (list) => list.slice(0, 3),
  ),
  listing(
    {
      name: "history-with-holes",
      does: "never lists a third of the signatures",
      isUsual: true,
      hidesMerchants: true,
    },
    (list) => list.filter((one) => !isLost(one)),
  ),
  {
    name: "stuck-cursor",
    does: "answers every page of history with the newest ten signatures",
    isUsual: false,
    play:
      ({ backend }) =>
      (call) => {
        if (call.method !== LIST) return backend.answer(call);
        const { before: _before, ...options } = optionsOf(call) as { readonly before?: string };
        return backend.answer({ ...call, params: [call.params[0], { ...options, limit: 10 }] });
      },
  },
  listing(
    {
      name: "min-context-slot-as-filter",
      does: "lists only signatures of minContextSlot or later, as Surfpool does",
      isUsual: true,
    },
    (list, call) => list.filter(({ slot }) => slot >= (optionsOf(call).minContextSlot ?? 0)),
  ),
  {
    name: "no-first-block",
    does: "does not know getFirstAvailableBlock",
    isUsual: true,
    play:
      ({ backend }) =>
      (call) =>
        call.method === "getFirstAvailableBlock"
          ? { error: { code: -32_601, message: "Method not found" } }
          : backend.answer(call),
  },
  withoutHistory("history-method-not-found", "has no methods of the history (-32601)", -32_601),
  withoutHistory("history-not-available", "keeps no transaction history (-32011)", -32_011),
  {
    name: "transactions-not-shown",
    does: "lists transactions and shows none of them",
    isUsual: true,
    play:
      ({ backend }) =>
      (call) =>
        call.method === "getTransaction" ? { result: null } : backend.answer(call),
  },
  {
    name: "recent-statuses-only",
    does: "ignores searchTransactionHistory and knows no status older than 150 slots",
    isUsual: true,
    play:
      ({ backend }) =>
      async (call) => {
        const answer = await backend.answer(call);
        if (call.method !== "getSignatureStatuses" || "error" in answer) return answer;
        const { context, value } = answer.result as {
          readonly context: { readonly slot: number };
          readonly value: ReadonlyArray<{ readonly slot: number } | null>;
        };
        return {
          result: {
            context,
            value: value.map((one) => (one !== null && one.slot < context.slot - 150 ? null : one)),
          },
        };
      },
  },
];
