import { aHash, aList, anAddress, anAmount, anObject, at, aTime, aWord, maybe } from "../output.ts";
import { address } from "../parameter.ts";
import { answerOf, tool } from "../tool.ts";

/** More than all actions that there are. */
const MOST_ACTIONS = 10;

/** `read_escrow`: one escrow from the ledger, and what can be done with it. */
export const readEscrow = tool({
  name: "read_escrow",
  description: "An escrow on the ledger, and what can be done next, by whom and until when.",
  parameters: { escrow: address() },
  output: {
    state: at("data.state", aWord()),
    agent: at("data.agent_owner", anAddress()),
    merchant: at("data.merchant", anAddress()),
    mint: at("data.mint", anAddress()),
    amount: at("data.amount_stroops", anAmount("Base units")),
    task_hash: at("data.task_hash", aHash()),
    proof_hash: at("data.proof_hash", maybe(aHash())),
    expires_at: at("data.expires_at", aTime()),
    ledger_time: at("context.ledger_time", aTime()),
    next: at(
      "data.next_actions",
      aList(anObject({ action: aWord(), by: aWord(), until: maybe(aTime()) }), MOST_ACTIONS),
    ),
  },
  run: async ({ escrow }, { call }) => ({
    answer: await answerOf(call, `/v1/escrows/${escrow}`),
    links: [{ uri: `settlement://escrow/${escrow}`, name: "The whole escrow" }],
  }),
});
