import type { EscrowRecord } from "../../escrow/escrow-contract.ts";
import type { Html } from "../shell/html.ts";
import { type AmountOf, key, statePill, table, time } from "../shell/parts.ts";

/** Escrows as rows that lead to their pages. */
export const escrowTable = (
  escrows: ReadonlyArray<EscrowRecord>,
  amount: AmountOf,
  caption: string,
  empty: string,
): Html =>
  table({
    caption,
    head: ["Escrow", "State", "Amount", "Merchant", "Agent", "Created", "Expires"],
    rows: escrows.map((escrow) => [
      key(escrow.escrow_pda, `/escrows/${escrow.escrow_pda}`),
      statePill(escrow.state, escrow.refundable),
      amount(escrow.amount_stroops, escrow.mint),
      key(escrow.merchant, `/merchants/${escrow.merchant}`),
      key(escrow.agent_owner, `/wallets/${escrow.agent_owner}`),
      time(escrow.created_at),
      time(escrow.expires_at),
    ]),
    empty,
  });
