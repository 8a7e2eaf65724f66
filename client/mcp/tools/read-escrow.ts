import type { NextAction } from "../../generated/contract.ts";
import { ask, membersOf } from "../ask.ts";
import { at, atOrNull, rowsAt, type ShownBy, type ShownOf } from "../output.ts";
import { address } from "../parameter.ts";
import { tool } from "../tool.ts";

/** More than all actions that there are. */
const MOST_ACTIONS = 10;
const ACTION = {
  action: "action",
  by: "by",
  until: atOrNull("until"),
} as const satisfies ShownOf<NextAction>;

/** `read_escrow`: one escrow from the ledger, and what can be done with it. */
export const readEscrow = tool({
  name: "read_escrow",
  description: "An escrow on the ledger, and what can be done next, by whom and until when.",
  parameters: { escrow: address() },
  output: {
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
  } satisfies ShownBy<"GET /v1/escrows/{pda}">,
  run: async (query, { call }) => ({
    answer: await ask(call, "GET /v1/escrows/{pda}", membersOf(query)),
    links: [{ uri: `settlement://escrow/${query.escrow}`, name: "The whole escrow" }],
  }),
});
