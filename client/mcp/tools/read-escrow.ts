import type { LiveEscrow, ReadContext } from "../../generated/contract.ts";
import { aList, anObject, aText, maybeText } from "../output.ts";
import { address } from "../parameter.ts";
import { answerOf, tool } from "../tool.ts";

/** `read_escrow`: one escrow from the ledger, and what can be done with it. */
export const readEscrow = tool({
  name: "read_escrow",
  description: "An escrow on the ledger, and what can be done next, by whom and until when.",
  parameters: { escrow: address() },
  output: {
    state: aText(),
    agent: aText(),
    merchant: aText(),
    mint: aText(),
    amount: aText("Base units"),
    task_hash: aText(),
    proof_hash: maybeText(),
    expires_at: aText(),
    ledger_time: aText(),
    next: aList(anObject({ action: aText(), by: aText(), until: maybeText() })),
  },
  run: async ({ escrow }, { call }) => {
    const { data, context } = await answerOf<{
      readonly data: LiveEscrow;
      readonly context: ReadContext;
    }>(call, `/v1/escrows/${escrow}`);
    return {
      result: {
        state: data.state,
        agent: data.agent_owner,
        merchant: data.merchant,
        mint: data.mint,
        amount: data.amount_stroops,
        task_hash: data.task_hash,
        proof_hash: data.proof_hash,
        expires_at: data.expires_at,
        ledger_time: context.ledger_time,
        next: data.next_actions.map(({ action, by, until }) => ({ action, by, until })),
      },
      links: [{ uri: `settlement://escrow/${escrow}`, name: "The whole escrow" }],
    };
  },
});
