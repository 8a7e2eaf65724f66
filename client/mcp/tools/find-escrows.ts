import { ESCROW_STATES } from "../../../core/domain/escrow/escrow.ts";
import {
  aCursor,
  aList,
  anAddress,
  anAmount,
  anObject,
  at,
  aTime,
  aWord,
  maybe,
} from "../output.ts";
import { PAGE_ROWS } from "../shown.ts";
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
    escrows: at(
      "data",
      aList(
        anObject({
          escrow: at("escrow_pda", anAddress()),
          state: aWord(),
          amount: at("amount_stroops", anAmount("Base units")),
          mint: anAddress(),
          expires_at: aTime(),
        }),
        PAGE_ROWS,
      ),
    ),
    next_cursor: at("page.next_cursor", maybe(aCursor())),
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
    return { answer: await answerOf(call, `/v1/indexer${query}`) };
  },
});
