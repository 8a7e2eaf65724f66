import type { EscrowRecord } from "../../escrow/escrow-contract.ts";
import type { RegistryEntryRecord } from "../../merchant/merchant-contract.ts";
import { escrowTable } from "../lists/escrow-table.ts";
import type { Listed } from "../lists/escrows-screen.ts";
import { html, type Html } from "../shell/html.ts";
import { curl, live, notice, wholeKey } from "../shell/parts.ts";
import { problemNotice } from "../shell/problem-screen.ts";
import { partOr, Refused, type Screen } from "../shell/screen.ts";

const A_PAGE = 50;

/** More rows are in the list that a link leads to. */
const more = ({ page }: Listed<EscrowRecord>, query: string): Html | false =>
  page.next_cursor !== null && html`<p><a href="/escrows?${query}">All of them</a></p>`;

/** What a wallet paid, what runs, and what it can have back now. */
export const walletScreen: Screen = {
  path: "/wallets/{address}",
  show: async ({ params, read, amount, origin }) => {
    const address = encodeURIComponent(params["address"] ?? "");
    const list = (query: string) =>
      read<Listed<EscrowRecord>>(`/v1/indexer?agent_owner=${address}&limit=${A_PAGE}${query}`);
    const [due, open, all, merchants] = await Promise.all([
      list("&refundable=true"),
      list("&state=Pending"),
      list(""),
      read<Listed<RegistryEntryRecord>>(`/v1/registry/merchants?q=${address}&limit=5`),
    ]);
    const sells =
      !(merchants instanceof Refused) &&
      merchants.data.some(({ merchant }) => merchant === params["address"]);
    if (all instanceof Refused && all.problem.status === 422) return all;
    const part = (
      answer: Listed<EscrowRecord> | Refused,
      caption: string,
      empty: string,
      query: string,
    ): Html =>
      partOr(
        answer,
        (page) => html`${escrowTable(page.data, amount, caption, empty)}${more(page, query)}`,
        problemNotice,
      );
    const running =
      open instanceof Refused
        ? open
        : {
            ...open,
            data: open.data.filter(
              ({ session_key, refundable }) => session_key !== null && !refundable,
            ),
          };
    const dues = due instanceof Refused ? 0 : due.data.length;
    return {
      title: `Wallet ${params["address"]}`,
      follows: `/v1/indexer/events/stream?agent_owner=${address}`,
      body: html`<h1>Wallet</h1>
        <p>${wholeKey(params["address"] ?? "")}</p>
        ${live(
          "paid",
          html`${dues > 0 && notice("warn", `${dues === A_PAGE ? `${A_PAGE} or more` : dues} can be refunded now: open one, and run its refund.`)}
            <h2>Can be refunded now</h2>
            ${part(due, "Over, with money left in them", "Nothing waits to be refunded.", `agent_owner=${address}&refundable=true`)}
            <h2>Running sessions</h2>
            ${part(running, "Neither settled nor over, newest first", "No session is open.", `agent_owner=${address}&state=Pending`)}
            <h2>Paid</h2>
            ${part(all, "Every escrow of this wallet, newest first", "This wallet has paid into no escrow.", `agent_owner=${address}`)}`,
        )}
        ${sells && html`<p>It sells too: <a href="/merchants/${address}">the merchant</a></p>`}
        ${curl(origin, `/v1/indexer?agent_owner=${params["address"]}`)}`,
    };
  },
};
