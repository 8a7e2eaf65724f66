import type { NextAction } from "../../generated/contract.ts";
import { settlementNews } from "../../pay/settlement-news.ts";
import { ask, membersOf } from "../ask.ts";
import { at, atOrNull, rowsAt, type ShownBy, type ShownOf } from "../output.ts";
import { address, oneOf, optional } from "../parameter.ts";
import { tool } from "../tool.ts";

/** More than all actions that there are. */
const MOST_ACTIONS = 10;
const ACTION = {
  action: "action",
  by: "by",
  until: atOrNull("until"),
} as const satisfies ShownOf<NextAction>;

/** How long a call waits. Clients give a tool a minute. */
const WITHIN_MS = 45_000;

const SHOWN = {
  state: "data.state",
  agent: "data.agent_owner",
  merchant: "data.merchant",
  mint: "data.mint",
  amount: at("data.amount_stroops", "Base units"),
  task_hash: "data.task_hash",
  proof_hash: atOrNull("data.proof_hash"),
  expires_at: "data.expires_at",
  ledger_time: "context.ledger_time",
  next: rowsAt("data.next_actions", ACTION, MOST_ACTIONS),
} as const satisfies ShownBy<"GET /v1/escrows/{pda}">;

/** `read_escrow`: one escrow from the ledger, and what can be done with it. */
export const readEscrow = tool({
  name: "read_escrow",
  description: "An escrow on the ledger, and what can be done next, by whom and until when.",
  parameters: {
    escrow: address(),
    until: optional(oneOf(["confirmed", "final"], "Waits up to 45 s for its settlement")),
  },
  output: {
    ...SHOWN,
    finality: atOrNull(
      "finality",
      "With until: confirmed, final, retracted by a fork; null: not settled",
    ),
  },
  run: async ({ until, ...query }, { call, stream, clock, signal }) => {
    const read = async () => (await ask(call, "GET /v1/escrows/{pda}", membersOf(query))) as object;
    const first = await read();
    const links = [{ uri: `settlement://escrow/${query.escrow}`, name: "The whole escrow" }];
    if (until === undefined) return { answer: { ...first, finality: null }, links };
    const requests = { answer: call, stream, clock };
    const finality = await settlementNews(requests, query.escrow, {
      until,
      withinMs: WITHIN_MS,
      signal,
    });
    return { answer: { ...(await read()), finality }, links };
  },
});
