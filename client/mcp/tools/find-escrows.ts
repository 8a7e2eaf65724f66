import { ESCROW_STATES } from "../../../core/domain/escrow/escrow.ts";
import type { Escrow } from "../../generated/contract.ts";
import { ask, membersOf } from "../ask.ts";
import { at, atOrNull, rowsAt, type ShownBy, type ShownOf } from "../output.ts";
import { address, flag, oneOf, optional, text } from "../parameter.ts";
import { PAGE_ROWS } from "../shown.ts";
import { tool } from "../tool.ts";

const ROW = {
  escrow: "escrow_pda",
  state: "state",
  amount: at("amount_stroops", "Base units"),
  mint: "mint",
  expires_at: "expires_at",
} as const satisfies ShownOf<Escrow>;

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
    escrows: rowsAt("data", ROW, PAGE_ROWS),
    next_cursor: atOrNull("page.next_cursor"),
  } satisfies ShownBy<"GET /v1/indexer">,
  run: async ({ refundable, ...filter }, { call }) => ({
    answer: await ask(call, "GET /v1/indexer", {
      ...membersOf(filter),
      ...(refundable === true ? { refundable } : {}),
      limit: PAGE_ROWS,
    }),
  }),
});
