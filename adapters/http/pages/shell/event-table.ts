import type { SettlementEventRecord } from "../../index/event-contract.ts";
import type { Html } from "./html.ts";
import { type AmountOf, key, statePill, table, time } from "./parts.ts";

/** Events as rows that lead to their escrows and transactions. */
export const eventTable = (
  events: ReadonlyArray<SettlementEventRecord>,
  amount: AmountOf,
  empty: string,
  caption = "Settlement events, newest first",
): Html =>
  table({
    caption,
    head: ["When", "State since", "Amount moved", "Escrow", "Merchant", "Transaction", "Log"],
    rows: events.map((event) => [
      time(event.occurred_at),
      statePill(event.state),
      amount(event.amount_stroops, event.mint),
      key(event.escrow_pda, `/escrows/${event.escrow_pda}`),
      key(event.merchant, `/merchants/${event.merchant}`),
      event.signature === null
        ? "not read yet"
        : key(event.signature, `/transactions/${event.signature}`),
      key(String(event.position), `/log?leaf=${event.position}`),
    ]),
    empty,
  });
