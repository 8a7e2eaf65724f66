import { ESCROW_STATES } from "../../../core/domain/escrow/escrow.ts";
import type { EscrowPage } from "../../generated/contract.ts";
import { aList, anObject, aText, maybeText } from "../output.ts";
import { PAGE_ROWS } from "../page-rows.ts";
import { address, flag, oneOf, optional, text } from "../parameter.ts";
import { answerOf, queryOf, tool } from "../tool.ts";

/** `find_escrows`: escrows out of the index, newest first. */
export const findEscrows = tool({
  name: "find_escrows",
  description: "Escrows of an agent or merchant, newest first.",
  parameters: {
    agent: optional(address()),
    merchant: optional(address()),
    state: optional(oneOf(ESCROW_STATES)),
    refundable: optional(flag("Only expired ones")),
    cursor: optional(text()),
  },
  output: {
    escrows: aList(
      anObject({
        escrow: aText(),
        state: aText(),
        amount: aText("Base units"),
        mint: aText(),
        expires_at: aText(),
      }),
    ),
    next_cursor: maybeText(),
  },
  run: async ({ agent, merchant, state, refundable, cursor }, { call }) => {
    const query = queryOf({
      agent_owner: agent,
      merchant,
      state,
      refundable: refundable === true ? true : undefined,
      cursor,
      limit: PAGE_ROWS,
    });
    const { data, page } = await answerOf<EscrowPage>(call, `/v1/indexer${query}`);
    return {
      result: {
        escrows: data.map((row) => ({
          escrow: row.escrow_pda,
          state: row.state,
          amount: row.amount_stroops,
          mint: row.mint,
          expires_at: row.expires_at,
        })),
        next_cursor: page.next_cursor,
      },
    };
  },
});
